//! A picture of a flame graph: callers above what they call, widths in proportion to bytes. Nothing
//! in it moves, so that documents and issues can include it; names in full are shown by pointing.

use std::fmt::Write as _;

use memtrail_text::markup::escaped;
use memtrail_text::names;

/// What is drawn: a tree of boxes in the order in which an engine gives them, parents before their
/// children.
pub struct Picture<'a> {
    /// The heading.
    pub title: &'a str,
    /// The line below: what the filter says, and how much it is.
    pub subtitle: &'a str,
    /// The boxes; the first is the root, which contains all others.
    pub boxes: Vec<Box<'a>>,
}

/// A box of the flame graph: its place and texts.
pub struct Box<'a> {
    /// The index of the box above it; the root's own is 0.
    pub parent: usize,
    /// What is written in it.
    pub name: &'a str,
    /// What is shown on pointing at it, below the name.
    pub details: String,
    /// Boxes of one group have one colour: the module.
    pub group: &'a str,
    /// How much it stands for.
    pub bytes: f64,
}

const WIDTH: f64 = 1200.0;
const MARGIN: f64 = 10.0;
const HEADER: f64 = 52.0;
const ROW: f64 = 17.0;
/// Rows that fit a picture which programs can still draw.
const MAX_ROWS: usize = 400;
/// Boxes that are not as wide are left out.
const NARROWEST: f64 = 0.3;
/// What a letter takes, on the wide side.
const LETTER: f64 = 6.7;

impl Picture<'_> {
    /// The whole file.
    pub fn write(&self) -> Vec<u8> {
        let places = self.places();
        let deepest = places.iter().flatten().map(|place| place.row).max().unwrap_or(0);
        let rows = (deepest + 1).min(MAX_ROWS);
        let height = HEADER + rows as f64 * ROW + MARGIN;
        let mut out = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
             width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" \
             font-size=\"11\">\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n"
        );
        let (title, subtitle) = (escaped(self.title), escaped(self.subtitle));
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"20\" font-size=\"15\" font-weight=\"bold\" \
             fill=\"#1b1f24\">{title}</text>\n\
             <text x=\"{MARGIN}\" y=\"38\" fill=\"#57606a\">{subtitle}</text>"
        );
        for (shown, place) in self.boxes.iter().zip(&places) {
            if let Some(place) = place.as_ref().filter(|place| place.row < rows) {
                draw(&mut out, shown, place);
            }
        }
        out.push_str("</svg>\n");
        out.into_bytes()
    }

    /// Where each box stands, if it is wide enough to be seen.
    fn places(&self) -> Vec<Option<Place>> {
        let all = self.boxes.first().map_or(0.0, |root| root.bytes);
        let scale = if all > 0.0 { (WIDTH - 2.0 * MARGIN) / all } else { 0.0 };
        let mut places: Vec<Option<Place>> = Vec::with_capacity(self.boxes.len());
        for (index, shown) in self.boxes.iter().enumerate() {
            let width = shown.bytes * scale;
            let place = if index == 0 {
                Some(Place { row: 0, left: MARGIN, width: WIDTH - 2.0 * MARGIN, next: MARGIN })
            } else {
                let parent = places.get_mut(shown.parent).and_then(Option::as_mut);
                parent.filter(|_| width >= NARROWEST).map(|parent| {
                    let left = parent.next;
                    parent.next += width;
                    Place { row: parent.row + 1, left, width, next: left }
                })
            };
            places.push(place);
        }
        places
    }
}

struct Place {
    row: usize,
    left: f64,
    width: f64,
    /// Where the next box below it begins.
    next: f64,
}

fn draw(out: &mut String, shown: &Box<'_>, place: &Place) {
    let top = HEADER + place.row as f64 * ROW;
    let (left, width) = (place.left, place.width);
    let (name, details, fill) = (escaped(shown.name), escaped(&shown.details), colour(shown.group));
    let _ = write!(
        out,
        "<g><title>{name}\n{details}</title>\
         <rect x=\"{left:.2}\" y=\"{top}\" width=\"{drawn:.2}\" height=\"16\" rx=\"1.5\" \
         fill=\"{fill}\"/>",
        drawn = (width - 0.6).max(0.2),
    );
    let letters = ((width - 6.0) / LETTER).floor();
    if letters >= 3.0 {
        let text = escaped(&names::tail(shown.name, letters as usize));
        let (x, y) = (left + 3.0, top + 12.0);
        let _ = write!(out, "<text x=\"{x:.2}\" y=\"{y}\" fill=\"#1b1f24\">{text}</text>");
    }
    out.push_str("</g>\n");
}

/// A light colour, always the same for a group.
fn colour(group: &str) -> String {
    if group.is_empty() {
        return "#d8dee4".to_owned();
    }
    let hash = group.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let hue = (hash >> 16) as f64 % 360.0;
    let channel = |shift: f64| {
        let k = (shift + hue / 30.0) % 12.0;
        let value = 0.80 - 0.13 * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        (value * 255.0).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", channel(0.0), channel(8.0), channel(4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_too_narrow_take_their_children_with_them() {
        let shown =
            |parent, bytes| Box { parent, name: "f", details: String::new(), group: "", bytes };
        let boxes = vec![shown(0, 1e6), shown(0, 999_999.0), shown(0, 1.0), shown(2, 1.0)];
        let picture = Picture { title: "", subtitle: "", boxes };
        let places = picture.places();
        assert!(places[1].is_some() && places[2].is_none() && places[3].is_none());
    }
}
