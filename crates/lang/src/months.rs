//! Names of months in the languages feeds and pages are written in.
//!
//! A row is a language, a cell the forms of one month: nominative, genitive, abbreviations that
//! are not simply the beginning. Beginnings of at least three letters count too, as long as all
//! languages that know them mean the same month.

use std::collections::HashMap;
use std::sync::LazyLock;

/// A month of one of the two calendars whose months have names of their own on the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Month {
    /// January is 1.
    Gregorian(i8),
    /// Farvardin is 1; Iranian newspapers date by it.
    Persian(i8),
}

/// Which month a word in lower case means; `croatian` decides whose `listopad` it is.
pub fn month(word: &str, croatian: bool) -> Option<Month> {
    // English first: most dates are.
    let english = match word {
        "jan" | "january" => 1,
        "feb" | "february" => 2,
        "mar" | "march" => 3,
        "apr" | "april" => 4,
        "may" => 5,
        "jun" | "june" => 6,
        "jul" | "july" => 7,
        "aug" | "august" => 8,
        "sep" | "sept" | "september" => 9,
        "oct" | "october" => 10,
        "nov" | "november" => 11,
        "dec" | "december" => 12,
        _ => 0,
    };
    if english > 0 {
        return Some(Month::Gregorian(english));
    }
    if croatian && word.starts_with("listopad") {
        return Some(Month::Gregorian(10));
    }
    if word.len() > LONGEST_FORM {
        return None;
    }
    let found = FORMS.get(word).copied().filter(|month| *month != AMBIGUOUS)?;
    Some(if found > PERSIAN { Month::Persian(found - PERSIAN) } else { Month::Gregorian(found) })
}

const AMBIGUOUS: i8 = 0;
/// Added to the number of a Persian month.
const PERSIAN: i8 = 20;
/// No form has more bytes.
const LONGEST_FORM: usize = 48;

static FORMS: LazyLock<HashMap<String, i8>> = LazyLock::new(|| {
    let mut forms: HashMap<String, i8> = HashMap::new();
    let cells = || {
        let gregorian = ROWS.iter().flat_map(|(_, row)| row.split('|').zip(1i8..));
        gregorian
            .chain(PERSIAN_ROW.split('|').zip(PERSIAN + 1..))
            .flat_map(|(cell, month)| cell.split_whitespace().map(move |form| (form.to_lowercase(), month)))
    };
    for (form, month) in cells() {
        forms.entry(form).or_insert(month);
    }
    // Beginnings, unless they are a word of their own already.
    let mut beginnings: HashMap<String, i8> = HashMap::new();
    for (form, month) in cells() {
        for (letters, (end, _)) in form.char_indices().enumerate() {
            if letters >= 3 {
                let known = beginnings.entry(form[..end].to_string()).or_insert(month);
                if *known != month {
                    *known = AMBIGUOUS;
                }
            }
        }
    }
    for (beginning, month) in beginnings {
        forms.entry(beginning).or_insert(month);
    }
    forms
});

const PERSIAN_ROW: &str = "فروردین فروردين | اردیبهشت ارديبهشت | خرداد | تیر تير | مرداد | شهریور شهريور | مهر | آبان | آذر | دی | بهمن | اسفند";

/// Croatian October is Polish and Czech November; the larger languages win unless the page is Croatian.
const ROWS: [(&str, &str); 54] = [
    (
        "en",
        "January | February | March | April | May | June | July | August | September | October | November | December",
    ),
    (
        "de",
        "Januar Jänner Jän | Februar Feber | März Maerz Mrz Mär Marz | April | Mai | Juni | Juli | August | September | Oktober Okt | November | Dezember Dez",
    ),
    (
        "fr",
        "janvier janv | février févr fev fevrier | mars | avril avr | mai | juin | juillet juil | août aout aoû | septembre sept | octobre | novembre | décembre déc decembre",
    ),
    (
        "es",
        "enero ene | febrero | marzo | abril abr | mayo | junio | julio | agosto ago | septiembre setiembre set | octubre | noviembre | diciembre dic",
    ),
    (
        "pt",
        "janeiro | fevereiro fev | março marco | abril abr | maio | junho | julho | agosto | setembro set | outubro out | novembro | dezembro dez",
    ),
    (
        "it",
        "gennaio gen | febbraio | marzo | aprile | maggio mag | giugno giu | luglio lug | agosto | settembre set | ottobre ott | novembre | dicembre dic",
    ),
    (
        "nl",
        "januari | februari | maart mrt | april | mei | juni | juli | augustus | september | oktober okt | november | december",
    ),
    (
        "sv",
        "januari | februari | mars | april | maj | juni | juli | augusti | september | oktober okt | november | december",
    ),
    (
        "da",
        "januar | februar | marts | april | maj | juni | juli | august | september | oktober okt | november | december",
    ),
    (
        "no",
        "januar | februar | mars | april | mai | juni | juli | august | september | oktober okt | november | desember des",
    ),
    ("is", "janúar | febrúar | mars | apríl | maí | júní | júlí | ágúst | september | október | nóvember | desember"),
    (
        "fi",
        "tammikuu tammikuuta tammi | helmikuu helmikuuta helmi | maaliskuu maaliskuuta maalis | huhtikuu huhtikuuta huhti | toukokuu toukokuuta touko | kesäkuu kesäkuuta kesä | heinäkuu heinäkuuta heinä | elokuu elokuuta elo | syyskuu syyskuuta syys | lokakuu lokakuuta loka | marraskuu marraskuuta marras | joulukuu joulukuuta joulu",
    ),
    (
        "et",
        "jaanuar jaan | veebruar veebr | märts | aprill | mai | juuni | juuli | august | september | oktoober | november | detsember dets",
    ),
    (
        "lv",
        "janvāris janvārī | februāris | marts | aprīlis | maijs maijā | jūnijs jūn | jūlijs jūl | augusts | septembris | oktobris | novembris | decembris",
    ),
    (
        "lt",
        "sausis sausio saus | vasaris vasario vas | kovas kovo | balandis balandžio bal | gegužė gegužės geg | birželis birželio birž | liepa liepos | rugpjūtis rugpjūčio rugp | rugsėjis rugsėjo rugs | spalis spalio spal | lapkritis lapkričio lapkr | gruodis gruodžio gruod",
    ),
    (
        "pl",
        "styczeń stycznia sty | luty lutego lut | marzec marca | kwiecień kwietnia kwi | maj maja | czerwiec czerwca cze | lipiec lipca lip | sierpień sierpnia sie | wrzesień września wrz | październik października paź paz | listopad listopada lis | grudzień grudnia gru",
    ),
    (
        "cs",
        "leden ledna led | únor února úno | březen března bře | duben dubna dub | květen května kvě | červen června | červenec července | srpen srpna srp | září zář | říjen října říj | listopad listopadu | prosinec prosince pro",
    ),
    (
        "sk",
        "január januára | február februára | marec marca | apríl apríla | máj mája | jún júna | júl júla | august augusta | september septembra | október októbra | november novembra | december decembra",
    ),
    (
        "sl",
        "januar januarja | februar februarja | marec marca | april aprila | maj maja | junij junija | julij julija | avgust avgusta avg | september septembra | oktober oktobra | november novembra | december decembra",
    ),
    (
        "hr",
        "siječanj siječnja sij | veljača veljače velj | ožujak ožujka ožu | travanj travnja tra | svibanj svibnja svi | lipanj lipnja | srpanj srpnja | kolovoz kolovoza kol | rujan rujna ruj | | studeni studenoga studenog stu | prosinac prosinca",
    ),
    (
        "sr",
        "januar јануар јан | februar фебруар феб | mart март мар | april април апр | maj мај | jun јун | jul јул | avgust август | septembar септембар | oktobar октобар | novembar новембар | decembar децембар",
    ),
    (
        "hu",
        "január | február | március márc | április ápr | május máj | június jún | július júl | augusztus | szeptember szept | október okt | november | december",
    ),
    (
        "ro",
        "ianuarie ian | februarie | martie | aprilie | mai | iunie iun | iulie iul | august | septembrie | octombrie | noiembrie noi | decembrie",
    ),
    (
        "tr",
        "ocak oca | şubat şub | mart | nisan nis | mayıs | haziran haz | temmuz tem | ağustos ağu | eylül eyl | ekim eki | kasım kas | aralık ara",
    ),
    (
        "el",
        "ιανουάριος ιανουαρίου ιαν | φεβρουάριος φεβρουαρίου φεβ φεβρ | μάρτιος μαρτίου μάρ μάρτ μαρ | απρίλιος απριλίου απρ | μάιος μαΐου μαίου μάι μάϊ μαϊ μαι | ιούνιος ιουνίου ιούν ιουν | ιούλιος ιουλίου ιούλ ιουλ | αύγουστος αυγούστου αύγ αυγ | σεπτέμβριος σεπτεμβρίου σεπ σεπτ | οκτώβριος οκτωβρίου οκτ | νοέμβριος νοεμβρίου νοέ νοε | δεκέμβριος δεκεμβρίου δεκ",
    ),
    (
        "ru",
        "январь января янв | февраль февраля фев февр | март марта | апрель апреля апр | май мая | июнь июня июн | июль июля июл | август августа авг | сентябрь сентября сен сент | октябрь октября окт | ноябрь ноября ноя нояб | декабрь декабря дек",
    ),
    (
        "uk",
        "січень січня січ | лютий лютого лют | березень березня бер | квітень квітня квіт | травень травня трав | червень червня черв | липень липня лип | серпень серпня серп | вересень вересня вер | жовтень жовтня жовт | листопад листопада лист | грудень грудня груд",
    ),
    (
        "be",
        "студзень студзеня | люты лютага | сакавік сакавіка | красавік красавіка | травень траўня | чэрвень чэрвеня | ліпень ліпеня | жнівень жніўня | верасень верасня | кастрычнік кастрычніка | лістапад лістапада | снежань снежня",
    ),
    ("bg", "януари | февруари | март | април | май | юни | юли | август | септември | октомври | ноември | декември"),
    (
        "id",
        "Januari | Februari Pebruari | Maret | April | Mei | Juni | Juli | Agustus Agu Agt | September | Oktober Okt | November Nopember | Desember Des",
    ),
    (
        "ms",
        "Januari | Februari | Mac | April | Mei | Jun | Julai | Ogos | September | Oktober | November | Disember Dis",
    ),
    (
        "ca",
        "gener gen | febrer | març | abril | maig | juny | juliol | agost | setembre | octubre | novembre | desembre",
    ),
    (
        "eu",
        "urtarrila urtarrilaren urtarrilak | otsaila otsailaren otsailak | martxoa martxoaren martxoak | apirila apirilaren apirilak | maiatza maiatzaren maiatzak | ekaina ekainaren ekainak | uztaila uztailaren uztailak | abuztua abuztuaren abuztuak | iraila irailaren irailak | urria urriaren urriak | azaroa azaroaren azaroak | abendua abenduaren abenduak",
    ),
    (
        "ar",
        "يناير كانون | فبراير شباط | مارس آذار | أبريل ابريل نيسان إبريل | مايو أيار | يونيو حزيران | يوليو تموز | أغسطس اغسطس آب | سبتمبر أيلول | أكتوبر اكتوبر | نوفمبر | ديسمبر",
    ),
    (
        "he",
        "ינואר בינואר | פברואר בפברואר | מרץ במרץ מרס | אפריל באפריל | מאי במאי | יוני ביוני | יולי ביולי | אוגוסט באוגוסט | ספטמבר בספטמבר | אוקטובר באוקטובר | נובמבר בנובמבר | דצמבר בדצמבר",
    ),
    (
        "hi",
        "जनवरी | फ़रवरी फरवरी | मार्च | अप्रैल | मई | जून | जुलाई | अगस्त | सितंबर सितम्बर | अक्टूबर अक्तूबर | नवंबर नवम्बर | दिसंबर दिसम्बर",
    ),
    (
        "th",
        "มกราคม ม.ค | กุมภาพันธ์ ก.พ | มีนาคม มี.ค | เมษายน เม.ย | พฤษภาคม พ.ค | มิถุนายน มิ.ย | กรกฎาคม ก.ค | สิงหาคม ส.ค | กันยายน ก.ย | ตุลาคม ต.ค | พฤศจิกายน พ.ย | ธันวาคม ธ.ค",
    ),
    (
        "gl",
        "xaneiro xan | febreiro feb | marzo | abril abr | maio | xuño xuñ | xullo xul | agosto ago | setembro set | outubro out | novembro | decembro dec",
    ),
    (
        "mk",
        "јануари | февруари | март | април | мај | јуни | јули | август | септември | октомври | ноември | декември",
    ),
    ("sq", "janar | shkurt | mars | prill | maj | qershor | korrik | gusht | shtator | tetor | nëntor | dhjetor"),
    (
        "af",
        "Januarie | Februarie | Maart | April | Mei | Junie | Julie | Augustus | September | Oktober | November | Desember",
    ),
    ("ga", "Eanáir | Feabhra | Márta | Aibreán | Bealtaine | Meitheamh | Iúil | Lúnasa | | | Samhain | Nollaig"),
    ("cy", "Ionawr | Chwefror | Mawrth | Ebrill | | Mehefin | Gorffennaf | Awst | Medi | Hydref | Tachwedd | Rhagfyr"),
    (
        "mt",
        "Jannar | Frar | Marzu | April | Mejju | Ġunju | Lulju | Awwissu | Settembru | Ottubru | Novembru | Diċembru",
    ),
    ("az", "yanvar | fevral | mart | aprel | may | iyun | iyul | avqust | sentyabr | oktyabr | noyabr | dekabr"),
    ("kk", "қаңтар | ақпан | наурыз | сәуір | мамыр | маусым | шілде | тамыз | қыркүйек | қазан | қараша | желтоқсан"),
    (
        "hy",
        "հունվարի հունվար | փետրվարի փետրվար | մարտի մարտ | ապրիլի ապրիլ | մայիսի մայիս | հունիսի հունիս | հուլիսի հուլիս | օգոստոսի օգոստոս | սեպտեմբերի սեպտեմբեր | հոկտեմբերի հոկտեմբեր | նոյեմբերի նոյեմբեր | դեկտեմբերի դեկտեմբեր",
    ),
    (
        "ka",
        "იანვარი იანვარს | თებერვალი | მარტი | აპრილი | მაისი | ივნისი | ივლისი | აგვისტო | სექტემბერი | ოქტომბერი | ნოემბერი | დეკემბერი",
    ),
    ("bn", "জানুয়ারি জানুয়ারী | ফেব্রুয়ারি ফেব্রুয়ারী | মার্চ | এপ্রিল | মে | জুন | জুলাই | আগস্ট | সেপ্টেম্বর | অক্টোবর | নভেম্বর | ডিসেম্বর"),
    ("ta", "ஜனவரி | பிப்ரவரி | மார்ச் | ஏப்ரல் | மே | ஜூன் | ஜூலை | ஆகஸ்ட் | செப்டம்பர் | அக்டோபர் | நவம்பர் | டிசம்பர்"),
    ("ur", "جنوری | فروری | مارچ | اپریل | مئی | جون | جولائی | اگست | ستمبر | اکتوبر | نومبر | دسمبر"),
    (
        "tl",
        "Enero | Pebrero | Marso | Abril | Mayo | Hunyo | Hulyo | Agosto | Setyembre | Oktubre | Nobyembre | Disyembre",
    ),
    ("sw", "Januari | Februari | Machi | Aprili | Mei | Juni | Julai | Agosti | Septemba | Oktoba | Novemba | Desemba"),
    ("fa", "ژانویه | فوریه | مارس | آوریل | مه می | ژوئن | ژوئیه جولای | اوت آگوست | سپتامبر | اکتبر | نوامبر | دسامبر"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_known_in_fifty_languages() {
        assert!(ROWS.len() >= 50);
        for (word, number) in [("märz", 3), ("května", 5), ("août", 8), ("сентября", 9), ("μαΐου", 5), ("ธ.ค", 12)]
        {
            assert_eq!(month(word, false), Some(Month::Gregorian(number)), "{word}");
        }
        assert_eq!(month("مرداد", false), Some(Month::Persian(5)));
        assert_eq!(month("category", false), None);
    }

    #[test]
    fn listopad_is_october_in_croatian_only() {
        assert_eq!(month("listopada", true), Some(Month::Gregorian(10)));
        assert_eq!(month("listopada", false), Some(Month::Gregorian(11)));
    }
}
