//! Words around names in bylines, by function.
//!
//! Covers the languages most common in feeds; add words to add a language. All words are
//! lower-case, and a word may be in several tables.

/// Words before an author's name.
#[rustfmt::skip]
pub const BY: &[&str] = &[
    "by", "von", "par", "por", "di", "door", "av", "af", "przez", "oleh", "av:", "by:", "von:", "par:", "por:",
    "autor:", "autorin:", "autoren:", "author:", "authors:", "auteur:", "auteurs:", "autore:", "autores:",
    "text:", "texte:", "texto:", "testo:", "tekst:", "words:", "verfasser:", "redaktion:", "автор:", "автор",
    "作者：", "作者:", "작성자:", "πηγή:", "του", "της", "συντάκτης:", "pubblicato", "yazan:", "yazar:", "oleh:",
    "penulis:", "writer:", "reporter:",
];

/// Like [`BY`], for scripts and styles without a space before the name.
#[rustfmt::skip]
pub const UNSPACED: &[&str] = &[
    "作者：", "作者:", "文/", "文／", "记者：", "記者：", "撰文：", "撰文/", "글:", "Autor:", "Author:", "Text:", "De:", "Auteur :",
    "Auteurs :", "Par :", "Von:",
];

/// Words before a name that do not identify the author.
#[rustfmt::skip]
pub const LEAD: &[&str] = &[
    "im", "wortlaut", "zeige", "alle", "beiträge", "show", "written", "posted", "published", "submitted",
    "created", "reported", "contributed", "story", "article", "words", "report", "review", "reviewed",
    "interview", "analysis", "opinion", "essay", "author", "authors", "text", "autor", "autorin", "autoren",
    "verfasst", "geschrieben", "veröffentlicht", "erstellt", "eingestellt", "gepostet", "geposted",
    "publiziert", "verfasser", "kommentar", "kolumne", "glosse", "gastbeitrag", "beitrag", "artikel", "analyse",
    "reportage", "bericht", "aufgezeichnet", "eine", "ein", "einer", "gastkommentar", "protokoll", "tipps",
    "leitartikel", "publié", "écrit", "rédigé", "auteur", "auteure", "auteurs", "auteur(s)", "texte", "propos",
    "recueillis", "publicado", "escrito", "redactado", "texto", "autores", "autora", "scritto", "pubblicato",
    "testo", "geschreven", "skrevet", "skriven", "tekst", "texter", "opublikowane", "автор", "autor/in",
    "autor/innen", "autor*in", "mit", "with", "the", "from", "quelle", "foto", "fotos", "bild", "bilder",
    "photos", "photo", "und", "and", "et", "hosted", "produced", "reporting", "edited", "a", "an", "news",
    "recipe", "presented", "researched", "thread", "starter", "about", "meet", "meinung", "eingesandt",
    "übersetzt", "gemeldet", "autor(en)", "author(s)", "name", "redaktion", "pressemitteilung", "herausgeber",
    "firma", "profile", "view", "posts", "all", "profil", "picture", "of", "image",
];

/// Words of [`LEAD`] that may begin any sentence, so they do not announce a name.
#[rustfmt::skip]
pub const SMALL: &[&str] = &[
    "the", "a", "an", "ein", "eine", "einer", "of", "from", "mit", "with", "und", "and", "et", "all", "about",
    "view", "name", "news", "foto", "fotos", "bild", "bilder", "photo", "photos", "image", "picture", "alle",
    "show",
];

/// Words that are never part of a name: roles, offices, instructions.
#[rustfmt::skip]
pub const ROLES: &[&str] = &[
    "experte", "expertin", "veröffentlicht", "erschienen", "paid", "med", "sponsored", "anzeige", "werbung",
    "gesponsert", "scholar", "pubmed", "google", "aktualisierung", "letzte", "editor", "editors", "editorial",
    "reporter", "correspondent", "writer", "journalist", "journalistin", "columnist", "staff", "contributor",
    "contributing", "senior", "junior", "freelance", "chief", "executive", "director", "manager", "producer",
    "founder", "co-founder", "ceo", "cto", "president", "specialist", "expert", "analyst", "strategist",
    "coach", "consultant", "redakteur", "redakteurin", "redakteure", "redaktorin", "redaktor", "chefredakteur",
    "chefredakteurin", "chefredaktor", "chefredaktorin", "ressortleiter", "ressortleiterin", "volontär",
    "volontärin", "korrespondent", "korrespondentin", "autor", "autorin", "author", "leiter", "leiterin",
    "geschäftsführer", "geschäftsführerin", "freier", "freie", "gastautor", "gastautorin", "reporterin",
    "kolumnist", "kolumnistin", "pressesprecher", "pressesprecherin", "journaliste", "rédacteur", "rédactrice",
    "correspondant", "correspondante", "redactor", "redactora", "periodista", "corresponsal", "giornalista",
    "direttore", "redactie", "verslaggever", "correspondente", "jornalista", "repórter", "mitarbeiter",
    "mitarbeiterin", "mitglied", "follow", "share", "email", "e-mail", "mail", "updated", "published",
    "aktualisiert", "lesezeit", "uhr", "read", "min", "minutes", "comments", "comment", "kommentare",
    "subscribe", "more", "mehr", "view", "profile", "profil", "facebook", "twitter", "linkedin", "instagram",
    "xing", "whatsapp", "website", "webseite", "bio", "contact", "kontakt", "articles", "artikel", "posts",
    "teilen", "folgen", "news", "online", "member", "joined", "last", "disclaimer", "copyright", "photography",
    "illustration", "fotograf", "photographer", "press", "presse", "pressestelle", "marketing", "datum", "date",
    "verlag", "professor", "researcher", "engineer", "developer", "designer", "lecturer", "fellow", "student",
    "attorney", "lawyer", "nutritionist", "dietitian", "reading", "time",
];

/// Words in names of organisations, which are kept only without a better candidate.
#[rustfmt::skip]
pub const OFFICES: &[&str] = &[
    "redaktion", "redaction", "rédaction", "redacción", "redazione", "redação", "redactie", "redakce",
    "redakcja", "newsroom", "desk", "team", "staff", "agency", "agencies", "agencia", "agentur", "agence",
    "editorial", "magazin", "magazine", "zeitung", "verlag", "gmbh", "inc", "llc", "ltd", "ag", "e.v", "verein",
    "ministerium", "bundesministerium", "amt", "behörde", "institut", "institute", "universität", "university",
    "pressestelle", "redaktionsteam", "media", "news", "online", "group", "stiftung", "foundation", "verband",
    "kanton", "stadt", "internetredaktion", "webredaktion", "onlineredaktion", "online-redaktion", "press",
    "presse", "blog", "service", "tv", "radio", "contributors", "company", "association", "committee", "center",
    "centre", "zentrum", "support",
];

/// Function words in names of institutions that do not occur in names of people.
#[rustfmt::skip]
pub const INSTITUTION: &[&str] = &[
    "für", "for", "of", "pour", "para", "per", "voor", "för",
];

/// Academic and professional titles after a name.
#[rustfmt::skip]
pub const DEGREES: &[&str] = &[
    "phd", "ph.d", "dphil", "md", "m.d", "dds", "dvm", "jd", "j.d", "mba", "msc", "m.sc", "bsc", "b.sc", "ma", "m.a", "mph", "mfa",
    "llm", "ll.m", "cpa", "cfa", "cfp", "rd", "rdn", "ldn", "rn", "lcsw", "esq", "dipl.-ing", "mag", "jr", "sr", "ii", "iii",
];

/// Words before "by" that announce an editor, a translator or a photographer.
#[rustfmt::skip]
pub const OTHER_ROLES: &[&str] = &[
    "edited", "translated", "reviewed", "photographed", "illustrated", "herausgegeben", "übersetzt", "fotografiert", "traduit",
    "traducido",
];

/// Placeholders in author fields.
#[rustfmt::skip]
pub const PLACEHOLDERS: &[&str] = &[
    "publisher", "admin", "administrator", "webmaster", "unknown", "unbekannt", "guest", "gast", "anonymous",
    "anonym", "none", "null", "undefined", "author", "autor", "user", "default", "root", "test", "editor",
    "wordpress", "redakteur", "superuser", "moderator", "na", "staff", "by", "von", "authors", "byline",
    "typo3", "me", "info", "office", "nouser", "siteadmin", "wpadmin", "blogadmin", "webadmin", "adminuser",
    "true", "false", "content", "posts",
];

/// Words of interfaces, which are never part of a name: menus, forms and buttons.
#[rustfmt::skip]
pub const INTERFACE: &[&str] = &[
    "suche", "suchen", "search", "login", "logout", "anmelden", "abmelden", "registrieren", "menü", "menu", "startseite", "home",
    "homepage", "impressum", "datenschutz", "newsletter", "abonnieren", "passwort", "password", "warenkorb", "einloggen",
    "buscar", "iniciar", "sesión", "inicio", "rechercher", "connexion", "accueil", "cerca", "accedi", "zoeken", "inloggen",
    "register", "signup", "signin", "sign", "click", "klicken", "hier", "here", "drucken", "print", "download", "cookie",
    "cookies", "privacy", "navigation", "skip", "weiterlesen", "antworten", "reply", "permalink", "tags", "category",
    "categories", "kategorie", "kategorien", "rubrik", "archive", "archiv", "video", "videos", "podcast", "gallery", "weiter",
    "zurück", "next", "previous", "loading", "advertisement", "popular", "latest", "related", "recent", "trending",
];

/// Labels of other roles than the author's, and of dates and sources, in scripts without spaces.
#[rustfmt::skip]
pub const UNSPACED_LABELS: &[&str] = &[
    "编辑", "編輯", "责编", "責編", "来源", "來源", "发布", "發布", "时间", "時間", "字号", "字號", "评论", "評論", "分享", "登录", "登錄", "登入",
    "注册", "註冊", "搜索", "搜尋", "首页", "首頁", "更多", "阅读", "閱讀", "点击", "點擊", "浏览", "瀏覽", "关键词", "關鍵詞", "标签", "標籤", "审核",
    "校对", "摄影", "攝影", "転載", "转载", "ログイン", "検索", "로그인", "검색", "댓글",
];

/// Lower-case particles within names.
#[rustfmt::skip]
pub const PARTICLES: &[&str] = &[
    "von", "van", "de", "der", "den", "del", "della", "di", "da", "dos", "das", "do", "du", "des", "la", "le",
    "el", "al", "bin", "ibn", "zu", "zur", "zum", "vom", "und", "ter", "ten", "te", "af", "av", "y", "e", "i",
    "st", "mc", "o", "'t", "dr", "dr.", "prof.", "prof", "med.", "h.c.", "phil.", "rer.", "nat.", "jun.", "jr.",
];

/// Conjunctions between names.
#[rustfmt::skip]
pub const CONJUNCTIONS: &[&str] = &[
    "und", "and", "et", "y", "e", "och", "og", "en", "ja", "és", "si", "și", "и", "та", "&", "+", "sowie",
    "with", "mit",
];

/// Months, weekdays and other words of a date line.
#[rustfmt::skip]
pub const MONTHS: &[&str] = &[
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec", "january",
    "february", "march", "april", "june", "july", "august", "september", "october", "november", "december",
    "mär", "mai", "okt", "dez", "januar", "jänner", "februar", "märz", "juni", "juli", "oktober", "dezember",
    "janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre", "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
    "octubre", "noviembre", "diciembre", "janeiro", "fevereiro", "março", "maio", "junho", "julho", "setembro",
    "outubro", "novembro", "dezembro", "gennaio", "febbraio", "aprile", "maggio", "giugno", "luglio",
    "settembre", "ottobre", "dicembre", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "mo", "di", "mi", "do",
    "fr", "sa", "so", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "montag",
    "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "lundi", "mardi", "mercredi",
    "jeudi", "vendredi", "samedi", "dimanche", "am", "on", "um", "uhr", "at", "pm", "est", "gmt", "|", "-", "–",
    "•", "·", "le", "el", "the", "den",
];

/// Words that end the names in a byline.
#[rustfmt::skip]
pub const ENDS: &[&str] = &[
    "in", "aus", "am", "on", "um", "für", "for", "at", "via", "bei", "auf", "is", "ist", "the", "als", "has",
    "hat", "im", "vom", "since", "seit", "from", "to", "über", "about", "à", "en", "le", "il", "published",
    "updated", "der", "covers", "writes", "as", "-", "–", "—", "|", "//", "»", ">", "·", "•",
];
