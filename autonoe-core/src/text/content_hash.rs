//! Fast non-cryptographic hash of file contents.

/// Initial lane values: the first fractional digits of pi.
const START: [u64; 4] = [
    0x243f_6a88_85a3_08d3,
    0x1319_8a2e_0370_7344,
    0xa409_3822_299f_31d0,
    0x082e_fa98_ec4e_6c89,
];

/// Multiplier: 2^64 divided by the golden ratio. It must differ from the values in [`START`],
/// otherwise swapping two words would not change the hash.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Bytes absorbed at once: two words for each lane.
const BLOCK: usize = 64;

/// Returns a hash of `bytes` that distinguishes versions of a file.
///
/// The hash detects accidental changes, not deliberate collisions: it is not keyed. The journal
/// stores it, so after a change of the algorithm the next run reports an edit of the ledger that
/// did not happen.
pub(crate) fn content_hash(bytes: &[u8]) -> u64 {
    let mut lanes = START;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for block in blocks {
        absorb(&mut lanes, block);
    }
    let mut last = [0; BLOCK];
    for (place, byte) in last.iter_mut().zip(rest) {
        *place = *byte;
    }
    absorb(&mut lanes, &last);
    // The length distinguishes trailing zeros from padding.
    lanes
        .iter()
        .fold(bytes.len() as u64, |hash, lane| fold(hash ^ lane, MIX))
}

/// Absorbs one block. The lanes are independent, so the processor can overlap their
/// multiplications.
fn absorb(lanes: &mut [u64; 4], block: &[u8; BLOCK]) {
    let (words, _) = block.as_chunks::<8>();
    for (lane, pair) in lanes.iter_mut().zip(words.as_chunks::<2>().0) {
        let [one, other] = pair.map(u64::from_le_bytes);
        *lane = fold(*lane ^ one, MIX ^ other);
    }
}

/// Multiplies and XORs both halves of the product, so that every input bit affects the whole
/// result.
fn fold(one: u64, other: u64) -> u64 {
    let product = u128::from(one) * u128::from(other);
    (product as u64) ^ ((product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn a_change_of_any_one_bit_changes_it() {
        let text: Vec<u8> = (0..=200).collect();
        let mut seen = HashSet::from([content_hash(&text)]);
        for at in 0..text.len() {
            for bit in 0..8 {
                let mut changed = text.clone();
                changed[at] ^= 1 << bit;

                assert!(seen.insert(content_hash(&changed)), "bit {bit} of {at}");
            }
        }
    }

    #[test]
    fn changes_of_two_places_do_not_cancel_out() {
        let text = [b' '; 3 * BLOCK];
        let mut seen = HashSet::new();
        for one in 0..text.len() {
            for other in 0..one {
                let mut changed = text;
                changed[one] ^= 1;
                changed[other] ^= 1;

                assert!(seen.insert(content_hash(&changed)), "{one} and {other}");
            }
        }
    }

    #[test]
    fn hash_depends_on_word_order() {
        let text: Vec<u8> = (0..2 * BLOCK as u8).collect();
        let words = text.len() / 8;
        let mut seen = HashSet::from([content_hash(&text)]);
        for one in 0..words {
            for other in 0..one {
                let mut changed = text.clone();
                for byte in 0..8 {
                    changed.swap(one * 8 + byte, other * 8 + byte);
                }

                assert!(seen.insert(content_hash(&changed)), "{one} and {other}");
            }
        }
    }

    #[test]
    fn texts_of_different_length_differ_although_all_is_zero() {
        let zeros = [0; 3 * BLOCK];

        let hashes: HashSet<u64> = (0..=zeros.len())
            .map(|length| content_hash(&zeros[..length]))
            .collect();

        assert_eq!(hashes.len(), zeros.len() + 1);
    }
}
