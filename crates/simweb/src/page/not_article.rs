//! Pages that take the place of articles: consent walls, soft 404s, front pages with text, stubs.

use crate::article::Article;
use crate::markup::escaped;
use crate::rng::Rng;
use crate::text::filler_sentence;
use crate::world::World;

/// The page of [`Fault::ConsentWall`](crate::Fault::ConsentWall).
pub const CONSENT_WALL: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Before you continue</title></head><body>\n\
    <main><h1>Before you continue</h1>\n<p>We and our partners use cookies and data to deliver and maintain our services, \
    to track outages and to protect against spam, fraud and abuse, and to measure how our audience uses the site.</p>\n\
    <p>If you choose to accept all, we will also use cookies and data to develop and improve new services, to show content \
    that is tailored to you, and to measure the effectiveness of advertising. You can change your choice at any time.</p>\n\
    <form><button>Reject all</button><button>Accept all</button></form></main></body></html>\n";

/// Writes the page of [`Fault::SoftNotFound`](crate::Fault::SoftNotFound), with a number of its own.
pub fn write_soft_404(number: u64) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Oops</title></head><body><main><h1>Oops</h1>\n<p>We are sorry, \
         but the page that you were looking for does not exist any more. It may have been moved, or it was never there in \
         the first place.</p>\n<p>Please check the address for mistakes, or use the search at the top to find what you \
         need. If the trouble goes on, write to our editors and give them the number {number} of this message.</p>\n\
         </main></body></html>\n"
    )
}

/// Writes a front page whose teasers are running text.
pub fn write_front(world: &World, site: usize) -> String {
    const TEASERS: usize = 6;
    let mut rng = Rng::named(&[world.spec.seed, 0xF407, site as u64]);
    let grammar = world.grammar(site);
    let profile = world.profile(site);
    let name = escaped(&world.site_name(site));
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"{}\"><head><meta charset=\"{}\"><title>{name}</title></head><body><main>\n",
        profile.language,
        profile.charset.name().to_lowercase(),
    );
    for _ in 0..TEASERS {
        let sentences: Vec<String> = (0..4).map(|_| escaped(&filler_sentence(grammar, &mut rng))).collect();
        out.push_str(&format!("<p>{}</p>\n", sentences.join(" ")));
    }
    out.push_str("</main></body></html>\n");
    out
}

/// Writes the page of an article with its first paragraph only.
pub fn write_stub(world: &World, mut article: Article) -> String {
    article.blocks.truncate(1);
    super::write(world, &article)
}
