//! [`Content`]: kind of a file, detected from its first bytes.

use std::io::{self, Read};

/// Number of inspected bytes.
const SNIFF_BYTES: u64 = 8 * 1024;

/// Kind of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Text,
    /// An image format that models support, with its media type.
    Image(&'static str),
    Binary,
}

impl Content {
    /// Detects the content from the beginning of `file`.
    pub(super) fn sniff(file: &mut impl Read) -> io::Result<Self> {
        let mut start = Vec::new();
        file.take(SNIFF_BYTES).read_to_end(&mut start)?;
        Ok(Self::detect(&start))
    }

    fn detect(start: &[u8]) -> Self {
        let webp = start.len() >= 12 && start.starts_with(b"RIFF") && &start[8..12] == b"WEBP";
        match start {
            [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Self::Image("image/png"),
            [0xff, 0xd8, 0xff, ..] => Self::Image("image/jpeg"),
            [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Self::Image("image/gif"),
            _ if webp => Self::Image("image/webp"),
            // Text has no zero byte; nearly every binary format has one early.
            _ if start.contains(&0) => Self::Binary,
            _ => Self::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_its_first_bytes() {
        for (start, content) in [
            (&b""[..], Content::Text),
            (b"fn main() {}\n", Content::Text),
            (b"caf\xe9\n", Content::Text),
            (b"\x7fELF\x02\x01\x01\0", Content::Binary),
            (b"\x89PNG\r\n\x1a\n\0\0", Content::Image("image/png")),
            (b"\xff\xd8\xff\xe0\0", Content::Image("image/jpeg")),
            (b"GIF89a\x01\0", Content::Image("image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Content::Image("image/webp")),
            (b"RIFF\x10\0\0\0WAVEfmt ", Content::Binary),
            (b"GIF is a format", Content::Text),
        ] {
            assert_eq!(Content::detect(start), content, "{start:?}");
        }
    }
}
