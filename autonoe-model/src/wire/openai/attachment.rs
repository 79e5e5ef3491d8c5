//! A file that goes with a result, as far as a model can look at it.

use autonoe_core::Attachment;

use crate::wire::attachment::base64;

/// How a model sees a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::wire) enum Shown {
    /// As a picture, by a `data:` URL.
    Picture(String),
    /// As a document, by its name and a `data:` URL.
    Document { name: String, url: String },
    /// As words: what is in it, or that it cannot be shown.
    Words(String),
}

/// Says how a model sees `file`.
pub(in crate::wire) fn shown(file: &Attachment) -> Shown {
    let media_type = file.media_type.to_ascii_lowercase();
    match media_type.as_str() {
        "image/png" | "image/jpeg" | "image/gif" | "image/webp" => {
            Shown::Picture(data_url(&media_type, file))
        }
        "application/pdf" => Shown::Document {
            name: file.name.clone().unwrap_or_else(|| "file.pdf".into()),
            url: data_url(&media_type, file),
        },
        _ => Shown::Words(file.to_text()),
    }
}

fn data_url(media_type: &str, file: &Attachment) -> String {
    format!("data:{media_type};base64,{}", base64(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(media_type: &str, name: Option<&str>) -> Attachment {
        Attachment {
            media_type: media_type.into(),
            name: name.map(Into::into),
            data: b"abc".as_slice().into(),
        }
    }

    #[test]
    fn pictures_and_documents_are_sent_and_the_rest_is_put_into_words() {
        assert_eq!(
            shown(&file("image/PNG", None)),
            Shown::Picture("data:image/png;base64,YWJj".into())
        );
        assert_eq!(
            shown(&file("application/pdf", Some("a.pdf"))),
            Shown::Document {
                name: "a.pdf".into(),
                url: "data:application/pdf;base64,YWJj".into(),
            }
        );
        for (media_type, name) in [("text/plain", "a.txt"), ("video/mp4", "a.mp4")] {
            let file = file(media_type, Some(name));
            assert_eq!(shown(&file), Shown::Words(file.to_text()));
        }
    }
}
