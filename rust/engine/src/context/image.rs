//! The cost of an image: its size from the first bytes of its base64, and each vendor's published price by size.
//!
//! No image is decoded. Where the size cannot be read (a link, an unknown file type), the most that any size can cost is
//! counted, and the count is marked as a bound.
//!
//! Sources: `OpenAI`, "Images and vision", calculating costs: tiles of 512 px after fitting 2048 x 2048 and a shortest side of
//! 768 (1024 x 1024 costs 765, 2048 x 4096 costs 1105; small images are not enlarged: 128 x 64 costs one tile); patches of
//! 32 px, at most 1,536, times a factor per model. Anthropic, "Vision": patches of 28 px after fitting 1568 x 1568, at most
//! 1,568 tokens. Google, "Understand and count tokens" (2026-11): up to Gemini 2.5, 258 if both sides are at most 384 px, else 258 for
//! each tile of 768 px; "Media resolution": from Gemini 3 on at most 1,120 unless the caller sets another resolution.

use super::message::{Detail, Image};

/// How a model prices images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageRule {
    /// A base and a price per tile; low detail costs the base (gpt-4o: 85 and 170; gpt-4o-mini: 2,833 and 5,667).
    Tiles {
        /// Per image.
        base: u64,
        /// Per tile of 512 px.
        tile: u64,
    },
    /// A price per patch of 32 px in thousandths (gpt-4.1-mini: 1,620), at most 1,536 patches.
    Patches {
        /// Thousandths of a token per patch.
        per_mille: u64,
    },
    /// Anthropic: patches of 28 px, at most 1,568.
    Anthropic,
    /// Gemini up to 2.5: 258 a tile.
    GeminiTiles,
    /// Gemini from 3 on: what the resolution allots that holds where none is set.
    GeminiResolution,
}

/// A number of tokens, and whether it is the true number or a bound above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Tokens.
    pub tokens: u64,
    /// Whether that is exact.
    pub exact: bool,
}

impl ImageRule {
    /// The cost of `image`.
    #[must_use]
    pub fn cost(self, image: &Image) -> Cost {
        let exact = image.size.is_some();
        let low = image.detail == Detail::Low;
        match (self, image.size) {
            (Self::Tiles { base, .. }, _) if low => Cost { tokens: base, exact: true },
            (Self::Tiles { base, tile }, size) => Cost { tokens: base + tile * size.map_or(MOST_TILES, tiles), exact },
            (Self::Patches { per_mille }, size) => Cost { tokens: (size.map_or(1536, patches) * per_mille).div_ceil(1000), exact },
            (Self::Anthropic, size) => Cost { tokens: size.map_or(1568, anthropic_patches), exact },
            // How a large image is cropped to tiles is not published.
            (Self::GeminiTiles, size) => Cost { tokens: size.map_or(GEMINI_UNSEEN, gemini_tiles), exact: size.is_some_and(is_small) },
            (Self::GeminiResolution, _) => Cost { tokens: 1_120, exact: false },
        }
    }
}

const GEMINI_TILE: u64 = 258;
/// The tokens of an image whose size is not known: of one with sides of up to 3,072 px.
const GEMINI_UNSEEN: u64 = 16 * GEMINI_TILE;

fn is_small((width, height): (u32, u32)) -> bool {
    width.max(height) <= 384
}

fn gemini_tiles((width, height): (u32, u32)) -> u64 {
    u64::from(width).div_ceil(768).max(1) * u64::from(height).div_ceil(768).max(1) * GEMINI_TILE
}

/// The most tiles of any image: 768 x 2048 covers 2 x 4 tiles.
const MOST_TILES: u64 = 8;

fn tiles((width, height): (u32, u32)) -> u64 {
    let (width, height) = fit(width.into(), height.into(), width.max(height).into(), 2048);
    let (width, height) = fit(width, height, width.min(height), 768);
    (width.div_ceil(512) * height.div_ceil(512)).clamp(1, MOST_TILES)
}

/// Scales both sides by `most / side`, rounded up, if `side` is longer than `most`.
fn fit(width: u64, height: u64, side: u64, most: u64) -> (u64, u64) {
    if side <= most { (width, height) } else { ((width * most).div_ceil(side), (height * most).div_ceil(side)) }
}

/// Patches of 32 px; an image with more than 1,536 is scaled down until it has at most that many.
fn patches((width, height): (u32, u32)) -> u64 {
    (u64::from(width).div_ceil(32) * u64::from(height).div_ceil(32)).clamp(1, 1536)
}

fn anthropic_patches((width, height): (u32, u32)) -> u64 {
    let (width, height) = fit(width.into(), height.into(), width.max(height).into(), 1568);
    (width.div_ceil(28) * height.div_ceil(28)).clamp(1, 1568)
}

/// Width and height of a PNG, GIF, WebP or JPEG from the start of its base64.
#[must_use]
pub fn size(base64: &str) -> Option<(u32, u32)> {
    let head = decode(&base64.as_bytes()[..base64.len().min(40)]);
    match head.get(..4)? {
        [0x89, b'P', b'N', b'G'] => Some((be32(&head, 16)?, be32(&head, 20)?)),
        [b'G', b'I', b'F', b'8'] => Some((le16(&head, 6)?, le16(&head, 8)?)),
        [b'R', b'I', b'F', b'F'] => webp(&head),
        [0xFF, 0xD8, ..] => jpeg(&decode(&base64.as_bytes()[..base64.len().min(JPEG_SEARCH)])),
        _ => None,
    }
    .filter(|(width, height)| *width > 0 && *height > 0)
}

/// How much base64 of a JPEG is searched for its frame header: thumbnails and profiles may stand before it.
const JPEG_SEARCH: usize = 256 * 1024;

/// Decodes whole groups of four up to the first byte that is not base64.
fn decode(base64: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(base64.len() / 4 * 3);
    for group in base64.chunks_exact(4) {
        let Some(bits) = group.iter().try_fold(0u32, |bits, byte| Some(bits << 6 | sextet(*byte)?)) else { break };
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    out
}

fn sextet(byte: u8) -> Option<u32> {
    match byte {
        b'A'..=b'Z' => Some(u32::from(byte - b'A')),
        b'a'..=b'z' => Some(u32::from(byte - b'a') + 26),
        b'0'..=b'9' => Some(u32::from(byte - b'0') + 52),
        b'+' | b'-' => Some(62),
        b'/' | b'_' => Some(63),
        _ => None,
    }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn be16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_be_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

fn le16(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)))
}

/// The three kinds of WebP: lossy, lossless, extended.
fn webp(head: &[u8]) -> Option<(u32, u32)> {
    match head.get(12..16)? {
        b"VP8 " => Some((le16(head, 26)? & 0x3FFF, le16(head, 28)? & 0x3FFF)),
        b"VP8L" => {
            let bits = u32::from_le_bytes(head.get(21..25)?.try_into().ok()?);
            Some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => {
            let three = |at: usize| Some(u32::from_le_bytes([*head.get(at)?, *head.get(at + 1)?, *head.get(at + 2)?, 0]) + 1);
            Some((three(24)?, three(27)?))
        }
        _ => None,
    }
}

/// Walks the segments to the first frame header (SOF0 to SOF15 without the tables C4, C8, CC).
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    loop {
        match *bytes.get(at..at + 2)? {
            [0xFF, 0xFF] => at += 1,
            [0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF] => return Some((be16(bytes, at + 7)?, be16(bytes, at + 5)?)),
            [0xFF, _] => at += 2 + be16(bytes, at + 2)? as usize,
            _ => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::Source;
    use super::*;

    const GPT_4O: ImageRule = ImageRule::Tiles { base: 85, tile: 170 };

    fn image(size: Option<(u32, u32)>, detail: Detail) -> Image {
        Image { source: Source::Url("https://x/y.png".into()), detail, size }
    }

    #[test]
    fn published_examples_hold() {
        assert_eq!(GPT_4O.cost(&image(Some((1024, 1024)), Detail::High)).tokens, 765);
        assert_eq!(GPT_4O.cost(&image(Some((2048, 4096)), Detail::High)).tokens, 1105);
        assert_eq!(GPT_4O.cost(&image(Some((128, 64)), Detail::High)).tokens, 255);
        assert_eq!(GPT_4O.cost(&image(Some((4096, 8192)), Detail::Low)).tokens, 85);
        assert_eq!(ImageRule::Patches { per_mille: 1000 }.cost(&image(Some((1024, 1024)), Detail::Auto)).tokens, 1024);
        assert_eq!(ImageRule::Anthropic.cost(&image(Some((1568, 728)), Detail::Auto)).tokens, 1456);
        assert_eq!(ImageRule::Anthropic.cost(&image(Some((3000, 2000)), Detail::Auto)).tokens, 1568);
        let gemini = |size| ImageRule::GeminiTiles.cost(&image(size, Detail::Auto));
        assert_eq!(gemini(Some((384, 384))), Cost { tokens: 258, exact: true });
        assert_eq!(gemini(Some((385, 384))), Cost { tokens: 258, exact: false });
        assert_eq!([gemini(Some((960, 540))).tokens, gemini(Some((3_072, 3_072))).tokens, gemini(None).tokens], [516, 4_128, 4_128]);
        assert_eq!(ImageRule::GeminiResolution.cost(&image(Some((16, 16)), Detail::Low)), Cost { tokens: 1_120, exact: false });
    }

    #[test]
    fn no_size_costs_more_than_the_bound_of_an_unknown_one() {
        let rules = [GPT_4O, ImageRule::Patches { per_mille: 1620 }, ImageRule::Anthropic];
        for rule in rules {
            let bound = rule.cost(&image(None, Detail::High));
            assert!(!bound.exact);
            for width in [1, 31, 512, 513, 768, 769, 1568, 2047, 2048, 2049, 5000, 60_000] {
                for height in [1, 64, 511, 768, 1536, 2048, 4096, 65_535] {
                    assert!(rule.cost(&image(Some((width, height)), Detail::High)).tokens <= bound.tokens, "{rule:?} {width}x{height}");
                }
            }
        }
    }

    #[test]
    fn sizes_are_read_from_the_first_bytes() {
        // Headers written by hand from the formats' specifications, 640 x 480 in each.
        let png = "iVBORw0KGgoAAAANSUhEUgAAAoAAAAHgCAYAAAA10dzk";
        let gif = "R0lGODlhgALgAfAAAP///wAAACH5BAAAAAAALAAAAAA=";
        let jpeg = "/9j/4AAQSkZJRgABAQAAAQABAAD/wAARCAHgAoADASIAAhEBAxEB";
        for data in [png, gif, jpeg] {
            assert_eq!(size(data), Some((640, 480)), "{data}");
        }
        assert_eq!(size("AAAA"), None);
        assert_eq!(size("é"), None);
        assert_eq!(size(""), None);
    }
}
