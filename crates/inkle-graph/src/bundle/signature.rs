//! Signatures: who vouches for a file.
//!
//! A signed file ends with the public key of its signer and an Ed25519 signature (RFC 8032) over [`PREFIX`] and the
//! file's header. The header holds the digest of the table of sections, and the table those of the sections, so the
//! signature covers every byte. Keys are read and written as PEM: PKCS #8 (RFC 8410) the secret ones, as
//! `openssl genpkey -algorithm ed25519` makes them, and SubjectPublicKeyInfo the public ones.

use std::fmt;

use ed25519_dalek::pkcs8::spki::der::pem::LineEnding;
use ed25519_dalek::pkcs8::{
    DecodePrivateKey, DecodePublicKey, EncodePrivateKey, EncodePublicKey, KeypairBytes,
};
use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};

use super::BundleError;
use super::file::Bundle;

/// What is signed starts with this, so that a signature made for something else is none of a graph file.
const PREFIX: &[u8; 16] = b"inkle graph file";
/// The public key and the signature at the end of a signed file, bytes.
pub(super) const TRAILER_BYTES: usize = 32 + 64;

/// A key that signatures are checked with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

/// A key that signatures are made with.
pub struct SecretKey(SigningKey);

impl PublicKey {
    /// The key of 32 bytes (RFC 8032, 5.1.5).
    ///
    /// # Errors
    /// [`BundleError::BadKey`] for bytes that are no key.
    pub fn from_bytes(bytes: &[u8; 32]) -> Result<PublicKey, BundleError> {
        match VerifyingKey::from_bytes(bytes) {
            // A weak key has signatures that fit any file.
            Ok(key) if !key.is_weak() => Ok(PublicKey(key)),
            _ => Err(BundleError::BadKey { why: "the bytes are no Ed25519 public key".into() }),
        }
    }

    /// The key in a text in PEM, `-----BEGIN PUBLIC KEY-----`.
    ///
    /// # Errors
    /// [`BundleError::BadKey`].
    pub fn from_pem(text: &str) -> Result<PublicKey, BundleError> {
        let key = VerifyingKey::from_public_key_pem(text).map_err(|error| BundleError::BadKey {
            why: format!("there is no Ed25519 public key in PEM in it ({error})"),
        })?;
        PublicKey::from_bytes(key.as_bytes())
    }

    /// The key as text in PEM.
    ///
    /// # Errors
    /// [`BundleError::BadKey`] if it cannot be written, which no key is known to do.
    pub fn to_pem(self) -> Result<String, BundleError> {
        let text = self.0.to_public_key_pem(LineEnding::LF);
        text.map_err(|error| BundleError::BadKey { why: error.to_string() })
    }

    /// The key as 32 bytes.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }
}

impl fmt::Display for PublicKey {
    /// Its bytes in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({self})")
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey(of {})", self.public())
    }
}

impl SecretKey {
    /// The key that 32 random bytes make.
    pub fn from_seed(seed: &[u8; 32]) -> SecretKey {
        SecretKey(SigningKey::from_bytes(seed))
    }

    /// The key in a text in PEM, `-----BEGIN PRIVATE KEY-----`.
    ///
    /// # Errors
    /// [`BundleError::BadKey`].
    pub fn from_pem(text: &str) -> Result<SecretKey, BundleError> {
        SigningKey::from_pkcs8_pem(text).map(SecretKey).map_err(|error| BundleError::BadKey {
            why: format!("there is no Ed25519 secret key in PEM in it ({error})"),
        })
    }

    /// The key as text in PEM, without the public key in it: not every program reads those that have it.
    ///
    /// # Errors
    /// [`BundleError::BadKey`] if it cannot be written, which no key is known to do.
    pub fn to_pem(&self) -> Result<String, BundleError> {
        let key = KeypairBytes { secret_key: self.0.to_bytes(), public_key: None };
        match key.to_pkcs8_pem(LineEnding::LF) {
            Ok(text) => Ok(text.to_string()),
            Err(error) => Err(BundleError::BadKey { why: error.to_string() }),
        }
    }

    /// The key that checks its signatures.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.0.verifying_key())
    }
}

fn message(header: &[u8]) -> Vec<u8> {
    [PREFIX, header].concat()
}

/// What follows the sections of a signed file.
pub(super) fn trailer(header: &[u8], key: &SecretKey) -> [u8; TRAILER_BYTES] {
    let mut trailer = [0; TRAILER_BYTES];
    trailer[..32].copy_from_slice(&key.public().to_bytes());
    trailer[32..].copy_from_slice(&key.0.sign(&message(header)).to_bytes());
    trailer
}

/// The signer that the end of a signed file names, its signature checked.
pub(super) fn check_trailer(header: &[u8], trailer: &[u8]) -> Result<PublicKey, BundleError> {
    let damaged = |why: &str| BundleError::Damaged { part: "signature", why: why.into() };
    let (Some(key), Some(signature)) = (trailer.first_chunk(), trailer.last_chunk()) else {
        return Err(damaged("it is too short"));
    };
    let key = PublicKey::from_bytes(key).map_err(|_| damaged("the key in it is none"))?;
    // Strict, so that a signature has one form.
    match key.0.verify_strict(&message(header), &Signature::from_bytes(signature)) {
        Ok(()) => Ok(key),
        Err(_) => Err(damaged("it is not one of this file")),
    }
}

impl Bundle {
    /// The bundle as a file that `key` has signed.
    pub fn to_signed_bytes(&self, key: &SecretKey) -> Vec<u8> {
        self.assemble(Some(key))
    }

    /// Fails unless the file that the bundle came from was signed with the secret part of `key`.
    ///
    /// # Errors
    /// [`BundleError::Signer`].
    pub fn require_signer(&self, key: &PublicKey) -> Result<(), BundleError> {
        if self.signer.as_ref() == Some(key) {
            return Ok(());
        }
        let found = self.signer.map(|signer| signer.to_string());
        Err(BundleError::Signer { expected: key.to_string(), found })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8032, 7.1, test 1.
    const SEED: [u8; 32] = [
        0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a, 0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44,
        0x49, 0xc5, 0x69, 0x7b, 0x32, 0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
    ];
    const PUBLIC: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";

    #[test]
    fn keys_are_those_of_the_standard_and_go_through_pem() {
        let secret = SecretKey::from_seed(&SEED);
        assert_eq!(secret.public().to_string(), PUBLIC);
        let (secret_text, public_text) = (secret.to_pem().unwrap(), secret.public().to_pem().unwrap());
        assert_eq!(
            secret_text,
            "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n\
             -----END PRIVATE KEY-----\n"
        );
        assert_eq!(SecretKey::from_pem(&secret_text).unwrap().public(), secret.public());
        assert_eq!(PublicKey::from_pem(&public_text), Ok(secret.public()));
        assert!(PublicKey::from_pem(&secret_text).is_err() && SecretKey::from_pem(&public_text).is_err());
        assert!(SecretKey::from_pem("").is_err());
        assert!(!format!("{secret:?}").contains("9d61"));
    }

    #[test]
    fn keys_that_any_signature_fits_are_refused() {
        let mut one = [0; 32];
        one[0] = 1;
        assert!(matches!(PublicKey::from_bytes(&one), Err(BundleError::BadKey { .. })));
        assert!(matches!(PublicKey::from_bytes(&[0; 32]), Err(BundleError::BadKey { .. })));
    }
}
