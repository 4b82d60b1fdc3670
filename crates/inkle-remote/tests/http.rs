//! A server on this machine as the remote cache: plain HTTP, and what the clients of S3, Google Cloud Storage and Azure make of it.
#![cfg(feature = "stores")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// What a server was told, by path: the body, and who said to be telling.
type Files = Arc<Mutex<HashMap<String, (Vec<u8>, String)>>>;

/// A server that keeps what it is told by `PUT`; gives its address and what it keeps.
fn server() -> (String, Files) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let files = Files::default();
    let kept = files.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let kept = kept.clone();
            std::thread::spawn(move || while answer(&stream, &kept).is_some() {});
        }
    });
    (address, files)
}

fn answer(stream: &TcpStream, files: &Files) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|n| *n > 0)?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (mut length, mut author) = (0, String::new());
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => author = value.trim().to_owned(),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut files = files.lock().unwrap();
    let (status, body) = match method.as_str() {
        "PUT" => {
            files.insert(path, (body, author));
            ("201 Created", Vec::new())
        }
        _ => files.get(&path).map_or(("404 Not Found", Vec::new()), |(body, _)| ("200 OK", body.clone())),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nlast-modified: Mon, 01 Jan 2024 00:00:00 GMT\r\netag: \"1\"\r\n\r\n",
        body.len()
    );
    let mut stream = stream;
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}

#[test]
fn what_is_put_is_got_from_any_thread() {
    let (address, files) = server();
    let store = inkle_remote::open(&format!("{address}/kernels")).unwrap();
    let keys: Vec<_> = (0..8u8).map(|i| blake3::hash(&[i])).collect();
    std::thread::scope(|scope| {
        for (i, key) in keys.iter().enumerate() {
            let store = &store;
            scope.spawn(move || {
                assert_eq!(store.get(key).unwrap(), None);
                store.put(key, &[i as u8; 5000]).unwrap();
                assert_eq!(store.get(key).unwrap(), Some(vec![i as u8; 5000]));
            });
        }
    });
    let hex = keys[3].to_hex();
    let path = format!("/kernels/{}/{}.ink", &hex[..2], &hex[2..]);
    assert_eq!(files.lock().unwrap().get(&path), Some(&(vec![3; 5000], String::new())));
}

/// Puts and gets an entry in a cloud's store at the server; gives whom the server was told by, and where.
fn through_cloud(url: &str, settings: impl Fn(&str) -> Vec<(&'static str, String)>) -> (String, String) {
    let (address, files) = server();
    let settings = settings(&address).into_iter().map(|(name, value)| (name.to_owned(), value));
    let store = inkle_remote::open_with(url, settings).unwrap();
    let key = blake3::hash(b"kernel");
    assert_eq!(store.get(&key).unwrap(), None);
    store.put(&key, b"object code").unwrap();
    assert_eq!(store.get(&key).unwrap(), Some(b"object code".to_vec()));
    let files = files.lock().unwrap();
    let (path, (_, author)) = files.iter().next().unwrap();
    let hex = key.to_hex();
    // Some clients write `/` and `.` of names in code.
    let path = path.replace("%2F", "/").replace("%2E", ".");
    let place = path.replace(&format!("{}/{}.ink", &hex[..2], &hex[2..]), "ENTRY");
    (author.clone(), place)
}

#[test]
fn s3_is_told_by_who_has_the_key() {
    let (author, place) = through_cloud("s3://bucket/kernels", |address| {
        vec![
            ("AWS_ENDPOINT", address.to_owned()),
            ("AWS_ALLOW_HTTP", "true".to_owned()),
            ("AWS_REGION", "eu-central-1".to_owned()),
            ("AWS_ACCESS_KEY_ID", "robot".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "secret".to_owned()),
        ]
    });
    assert!(author.starts_with("AWS4-HMAC-SHA256 Credential=robot/"), "{author}");
    assert_eq!(place, "/bucket/kernels/ENTRY");
}

#[test]
fn google_cloud_storage_is_told() {
    let (author, place) = through_cloud("gs://bucket/kernels", |address| {
        let key = format!(
            r#"{{"gcs_base_url": "{address}", "disable_oauth": true, "client_email": "", "private_key": "", "private_key_id": ""}}"#
        );
        vec![("GOOGLE_SERVICE_ACCOUNT_KEY", key)]
    });
    assert_eq!((author.as_str(), place.as_str()), ("Bearer", "/bucket/kernels/ENTRY"));
}

#[test]
fn azure_is_told_by_who_has_the_key() {
    let (author, place) = through_cloud("az://container/kernels", |address| {
        vec![
            ("AZURE_STORAGE_ENDPOINT", address.to_owned()),
            ("AZURE_ALLOW_HTTP", "true".to_owned()),
            ("AZURE_STORAGE_ACCOUNT_NAME", "robot".to_owned()),
            ("AZURE_STORAGE_ACCOUNT_KEY", "c2VjcmV0".to_owned()),
        ]
    });
    assert!(author.starts_with("SharedKey robot:"), "{author}");
    assert_eq!(place, "/container/kernels/ENTRY");
}

#[test]
fn a_cloud_without_a_bucket_is_refused() {
    assert!(inkle_remote::open_with("s3://", []).is_err());
}

#[test]
fn a_server_that_is_not_there_is_an_error() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/kernels", listener.local_addr().unwrap());
    drop(listener);
    let store = inkle_remote::open(&url).unwrap();
    assert!(store.get(&blake3::hash(b"k")).is_err());
    assert!(store.put(&blake3::hash(b"k"), b"bytes").is_err());
}

#[test]
fn urls_of_no_store_are_refused() {
    for url in ["gopher://old/store", "not a url"] {
        assert!(inkle_remote::open(url).is_err(), "{url}");
    }
}
