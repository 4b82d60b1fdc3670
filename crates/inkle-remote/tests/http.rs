//! An HTTP server as the remote cache.
#![cfg(feature = "stores")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

type Files = Arc<Mutex<HashMap<String, Vec<u8>>>>;

/// A server that keeps what it is told by `PUT`; gives its address and what it keeps.
fn server() -> (String, Files) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/kernels", listener.local_addr().unwrap());
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
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let header = header.trim().to_ascii_lowercase();
        if header.is_empty() {
            break;
        }
        if let Some(value) = header.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let mut files = files.lock().unwrap();
    let (status, body) = match method.as_str() {
        "PUT" => {
            files.insert(path, body);
            ("201 Created", Vec::new())
        }
        _ => files.get(&path).map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body.clone())),
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
    let (url, files) = server();
    let store = inkle_remote::open(&url).unwrap();
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
    assert_eq!(files.lock().unwrap().get(&path), Some(&vec![3; 5000]));
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
