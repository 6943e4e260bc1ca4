/**
 * The text that mail programs put around the answered mail, by language. Collected from the programs' own
 * translations (Gmail, Outlook, Apple Mail, Thunderbird, Yahoo, mobile programs). The words come first, then the
 * patterns made of them.
 */

/** "wrote" in an attribution line. */
const wroteWords = [
  "wrote|writes|said|says|sent|quoting", // English
  "schrieb|schreibt|geschrieben|zitat von", // German
  "a [eé]crit|nous a dit|[eé]crivait", // French
  "escribi[oó]|ha escrito|escribe|citando", // Spanish
  "escreveu|escreve", // Portuguese
  "ha scritto|scrisse|scrive", // Italian
  "schreef|geschreven", // Dutch
  "skrev|skriver", // Swedish, Norwegian, Danish
  "kirjoitti", // Finnish
  "napisał\\(a\\)|napisała?|napisana|pisze", // Polish
  "написал\\(а\\)|написала?|пишет|писал\\(а\\)|писал[аи]?", // Russian
  "пише|написав|написала|пишуть", // Ukrainian
  "napsal\\(a\\)|napsala?|píše", // Czech
  "napísal\\(a\\)|napísala?", // Slovak
  "írta|írt", // Hungarian
  "a scris", // Romanian
  "έγραψε", // Greek
  "yazdı|yazmış", // Turkish
  "כתב\\/ה|כתבה?|כתב\\/כתבה", // Hebrew
  "كتبت?|كتب\\/ت", // Arabic
  "نوشت", // Persian
  "写道|寫道|写到|寫到|写了", // Chinese
  "のメール|書きました|書いた|のメッセージ", // Japanese
  "작성|썼습니다|쓴 글|님이", // Korean
  "đã viết|viết", // Vietnamese
  "เขียนว่า|เขียน", // Thai
  "menulis", // Indonesian
  "napisao|napisala|je napisal|написао|je pisao", // Croatian, Slovene, Serbian
  "написа", // Bulgarian
  "rašė|parašė", // Lithuanian
  "rakstīja", // Latvian
  "kirjutas", // Estonian
  "va escriure|ha escrit", // Catalan
  "escribiu", // Galician
  "skrifaði", // Icelandic
  "ने लिखा" // Hindi
].join("|")

/** The start of an attribution line, before the date. */
const opensWords =
  "On|At|In message|Am|Le|El|Em|Il|Op|Den|Dňa|Dnia|Dne|V dňa|La|Pe|Στις|Στην|Kun|På|W dniu|Wiadomość napisana|Вы|Dana|Dne|На|В|У|בתאריך|ב-|في|在|於|于|Vào|Vào lúc|เมื่อ|Pada|El dia|Il giorno|Em qua|Ngày|(?:man|tir?|ons?|tors?|fre|lør|søn|ma|to|fr|lø|sø)\\."

/** The header fields that Outlook and others put before a complete mail. */
const fieldsWords = {
  from: "From|Von|De|Da|Van|Från|Fra|Lähettäjä|Od|Nadawca|От|От кого|Від|Feladó|De la|Από|Kimden|Gönderen|מאת|من|发件人|發件人|寄件者|寄件人|差出人|送信者|送信元|보낸 사람|보낸사람|보낸이|Từ|Người gửi|จาก|Dari|Expéditeur|Remitente|Mittente|Afzender|Avsändare|Absender|Pošiljatelj|Šalje|Nuo|Saatja|Sender",
  date: "Sent|Date|Gesendet|Datum|Envoyé(?: le)?|Enviado(?: el| em| a)?|Enviada(?: em)?|Fecha|Data|Inviato|Verzonden|Skickat|Sendt|Dato|Lähetetty|Päivämäärä|Päiväys|Wysłano|Отправлено|Дата|Надіслано|Odesláno|Odoslané|Dátum|Elküldve|Küldve|Trimis|Στάλθηκε|Ημερομηνία|Gönderildi|Gönderilme(?: Tarihi)?|Tarih|נשלח|תאריך|تم الإرسال|التاريخ|تاريخ|发送时间|發送時間|日期|寄件日期|已傳送|送信日時|日時|日付|보낸 날짜|날짜|일시|Đã gửi|Ngày|วันที่|ส่ง|ส่งเมื่อ|Dikirim|Tanggal|Le|Poslano|Išsiųsta|Saadetud",
  to: "To|An|À|A|Para|Aan|Till|Til|Vastaanottaja|Do|Komu|Кому|Címzett|Către|Προς|Kime|Alıcı|אל|إلى|الى|收件人|收件者|宛先|받는 사람|받는사람|받는이|Tới|Đến|Người nhận|ถึง|Kepada|Destinataire|Destinatario|Destinatário|Empfänger|Prima|Za|Kam|Kellele",
  other:
    "Cc|CC|Bcc|Kopie|Kopie \\(Cc\\)|Kopia|Kopi|Kopio|DW|UDW|Копия|Копія|Másolat|Másolatot kap|Κοιν|Bilgi|עותק|نسخة|抄送|副本|참조|Reply-To|Répondre à|Risposta|Rispondi a|Beantwoorden - Aan|Antwort an|Responder a|Svar til|Svara till|Importance|Priorität|Anlagen|Attachments|Organization|Message-ID",
  subject:
    "Subject|Betreff|Objet|Asunto|Assunto|Oggetto|Onderwerp|Ämne|Emne|Aihe|Temat|Тема|Předmět|Predmet|Tárgy|Subiect|Θέμα|Konu|נושא|الموضوع|主题|主旨|主題|件名|제목|Chủ đề|Tiêu đề|เรื่อง|Perihal|Subjek|Zadeva|Tema|Teema|Assumpte"
}

/** The text between dashes above a complete mail. */
const originalWords =
  "Original(?:\\s+E?-?Mail)? Message|Original E?-?mail|Original Appointment|Forwarded (?:message|e?-?mail)|Reply message|Ursprüngliche (?:Nachricht|Mail|E-Mail)|Original-?Nachricht|Weitergeleitete (?:Nachricht|E-?Mail)|Message d['’]origine|Message original|Courriel original|Message transféré|Mensaje original|Mensaje reenviado|Mensagem original|Mensagem (?:re)?encaminhada|Messaggio originale|Messaggio inoltrato|Oorspronkelijk bericht|Origineel bericht|Doorgestuurd bericht|Ursprungligt meddelande|Originalmeddelande|Vidarebefordrat meddelande|Opprinnelig melding|Videresendt melding|Oprindelig meddelelse|Videresendt meddelelse|Alkuperäinen viesti|(?:Edelleenl|L)ähetetty viesti|Välitetty viesti|(?:Wiadomość )?Oryginalna(?: wiadomość)?|Wiadomość oryginalna|Przekazana wiadomość|Treść oryginalnej wiadomości|(?:Исходное|Оригинальное|Пересылаемое|Пересланное|Перенаправленное) (?:сообщение|письмо)|(?:Вихідне|Оригінальне|Переслане) повідомлення|Původní (?:zpráva|e-mail)|Přeposlaná zpráva|Pôvodná správa|Preposlaná správa|Eredeti üzenet|Továbbított üzenet|Mesaj(?:ul)? (?:original|inițial|redirecționat)|Αρχικό μήνυμα|Προωθημένο μήνυμα|Orijinal (?:Mesaj|İleti)|Özgün İleti|İletilen ileti|הודעה מקורית|הודעה שהועברה|الرسالة الأصلية|رسالة معاد توجيهها|原始邮件|原始郵件|转发邮件|转发的邮件|轉寄郵件|已轉寄的郵件|元のメッセージ|オリジナル ?メッセージ|転送メッセージ|원본 메시지|원본 메일|전달된 메시지|Thư gốc|Thư đã chuyển tiếp|ข้อความต้นฉบับ|Pesan [Aa]sli|Pesan terusan|Izvorno sporočilo|Izvorna poruka|Originalna poruka|Missatge original"

/** The same without dashes, at the start of a line. */
const forwardedWords =
  "Begin forwarded message|Anfang der weitergeleiteten (?:Nachricht|E-Mail)|Début du message (?:transféré|réexpédié)|Inicio del mensaje reenviado|Início da mensagem (?:re)?encaminhada|Inizio(?: del)? messaggio inoltrato|Begin doorgestuurd bericht|Vidarebefordrat brev|Videresendt (?:brev|melding)|Start på videresendt besked|Välitetty viesti alkaa|Początek przekazywanej wiadomości|Начало переадресованного сообщения|Začátek přeposílané zprávy|A továbbított levél eleje|İletilen ileti başlangıcı|开始转发的邮件|下面是被转发的邮件|開始轉寄郵件|以下是轉寄的郵件|転送されたメッセージ|전달된 메시지 시작"

/** The footers of phones and programs. */
const deviceWords = [
  "sen[dt] (?:from|via|with|by|using|on)\\b|get outlook for|from my .{1,20}$|typed on my|download .{1,20} for (?:ios|android)",
  "envoyé (?:de|du|depuis|avec|à partir|par)\\b|(?:télécharge[rz]|obtenir|obtenez) outlook",
  "von meine[mr] .+ (?:gesendet|geschickt)|gesendet (?:von|mit|aus|über|via)\\b|diese nachricht wurde .*(?:gesendet|verschickt)|(?:holen sie sich|laden sie) outlook|outlook für .{2,20}(?:beziehen|herunterladen)",
  "inviato (?:da|dal|dall|con|tramite)\\b|(?:ottieni|scarica) outlook",
  "enviado (?:desde|con|mediante|a través|do|da|de|pelo|via|a partir)\\b|(?:obt[eé]n|obtener|descarga[r]?|obter o|obtenha o|baixe o) outlook",
  "(?:verzonden|verstuurd|verzend) (?:vanaf|vanuit|via|met|van|uit)\\b|outlook voor .{2,20}(?:downloaden|ophalen)|(?:download|haal) outlook",
  "skicka(?:t|des) (?:från|via|med)\\b|från min .{1,20}$|(?:hämta|skaffa) outlook",
  "sendt (?:fra|via|med)\\b|(?:hent|få) outlook",
  "lähetetty |hanki outlook|lataa outlook",
  "wysłan[eo] (?:z|ze|przy|za)\\b|(?:pobierz|uzyskaj) .{0,20}outlook",
  "отправлено (?:с|со|из|от)\\s|скачать outlook|отправлено через",
  "надіслано (?:з|із|зі|через)\\s|завантажити outlook",
  "odesláno (?:z|ze|pomocí)\\b|odoslané (?:z|zo)\\b|získejte outlook|stáhnout outlook",
  "(?:el)?küldve (?:a|az|innen)\\b",
  "trimis (?:de pe|din|de la|prin|cu)\\b|(?:obțineți|descărcați) outlook",
  "(?:στάλθηκε|εστάλη|απεστάλη) (?:από|μέσω)|λήψη του outlook",
  "outlook['’].{2,30}(?:edinin|indirin)",
  "נשלח מ|קבל את outlook",
  "(?:أُ?رسلت?|مُ?رسل|نُ?شر|تم الإرسال|أرسلت) من|الحصول على outlook",
  "发自我的|发自|發自|來自我的|来自我的|[从從]我的.{1,20}(?:发送|傳送|寄出)|(?:获取|取得|下载) ?outlook|傳送自|寄自",
  "(?:đã )?(?:được )?gửi từ|tải outlook",
  "ส่งจาก|รับ outlook",
  "(?:di|ter)kirim dari|dapatkan outlook",
  "posla(?:no|to) (?:s|sa|iz|z|preko)\\b|изпратено (?:от|чрез)|išsiųsta iš|nosūtīts no|saadetud minu|enviat des"
].join("|")

/** Those that begin with any words. */
const deviceEnds = [
  "\\S+ from mobile$",
  ".{2,30}(?:ról|ről|mról|mről) küldve",
  ".{2,40}(?:dan|den|tan|ten) gönderildi",
  ".{1,30}から送信|.{1,30}を入手",
  ".{1,30}에서 (?:보냄|보낸|전송|발송)|.{1,20}outlook.{0,10}다운로드"
].join("|")

/** How a footer of a list or company begins, and a phrase of it. Authors write each of them, but not both. */
const footerStarts =
  "this (?:e-?mail|message|communication|transmission)|the (?:information|contents?)|you (?:get|got|received|have received|are receiving) this|to unsubscribe|if you|unless you|(?:confidentiality )?notice|disclaimer|important|virus-free\\.|diese (?:e-?mail|nachricht)|wenn sie|sollten sie|ce (?:message|courriel)|cet e-?mail|si vous|est[ea] (?:mensaje|correo|mensagem|e-?mail)|si (?:usted )?no|se (?:você )?não"
const footerPhrases =
  "intended recipient|intended (?:only|solely) for (?:the )?(?:use|person|individual|named|addressee|recipient)|not the (?:named )?addressee|(?:if you(?: have)?|whoever|anyone who) (?:receive[ds]?|gets?|got) .{0,30}(?:in error|by mistake)|confidential and may be (?:legally )?privileged|unsubscribe from (?:it|this)|subscribed to|(?:checked|scanned) for virus|www\\.avast|nicht der .{0,20}(?:adressat|empfänger)|pas le destinataire|no es el destinatario|não é o destinatário"

const any = (words: string) => `(?<![\\p{L}\\p{N}])(?:${words})`

/** The word for "wrote", in the middle or at the end of a line. */
export const wrote = new RegExp(`${any(wroteWords)}(?![\\p{Ll}])`, "iu")
export const wroteInside = new RegExp(`${any(wroteWords)}\\s?[:：]\\s`, "iu")
export const wroteAlone = new RegExp(`^[\\s>]*(?:${wroteWords})[\\s:：.>*_-]*$`, "iu")
/** Authors write it of others, too. */
export const told = /\bsa(?:id|ys)[\s:：]*$/i
/** Searched backwards from the end of the text, which takes a fifth of the time. */
export const ends = new RegExp(`(?<=(?:[:：]|${any(wroteWords)}[\\s.…]*)[\\s>*_-]*)$`, "iu")

/** The start of an attribution line. */
export const opens = new RegExp(`^(?:${opensWords})(?:[\\s,]|(?<=[^\\x00-\\x7f]))`, "iu")
export const startsWithNumber = /^.{0,16}\d/
export const startsWithDate = /^\d{4}[-/.]\d/
export const startsWithAddress = /^[^<>@]{0,80}[<([]?\s*(?:mailto:)?[^\s<>@]{1,64}@[^\s<>@]{1,200}/
export const viaSomething = /^.{1,60} via /
/** Gmail's form in some languages, and an old one. */
export const dayAndAddress = /^.{0,16}\d.*<[^<>@\s]+@[^<>@\s]+>\s*:?\s*$/
export const dayAndZone = /^(?:19|20)\d\d-\d\d-\d\d \d{1,2}:\d\d GMT[+-]\d\d:\d\d \S.{0,80}$/

export const address = /[^\s<>"'@(]@[^\s<>"'@)]|<\s*(?:mailto:)?\s*$/
export const year = /(?<!\d)(?:19|20)\d\d(?!\d)/
export const time = /(?<!\d)\d{1,2}\s?[:.hH時시点點]\s?\d{2}(?!\d)/
/** A time, not the day and month of a date. */
export const timeOfDay = /(?<![\p{Nd}./-])\p{Nd}{1,2}(?:[:.]|\s?[hH時시点點])\s?\p{Nd}{2}(?![\p{Nd}./-]*[./-]\p{Nd})/u
export const twoNumbers = /\d\D+\d/
export const fourNumbers = /(?:\p{Nd}+\P{Nd}+){3}\p{Nd}/u

/** Expands optional parts of a list's words: `Envoyé(?: le)?` is `Envoyé` and `Envoyé le`. */
const spelled = (words: string): ReadonlyArray<string> =>
  words.split(/\|(?![^(]*\)\?)/).flatMap((word) => {
    const [, before = "", options, behind = ""] = /^(.*?)\(\?:(.*?)\)\?(.*)$/.exec(word) ?? [word, word]
    const all = options === undefined ? [""] : ["", ...options.split("|")]
    return all.map((option) => `${before}${option}${behind}`.replaceAll("\\", "").toLowerCase())
  })

const fieldNames = new Map(
  Object.entries(fieldsWords)
    .toReversed()
    .flatMap(([name, words]) => spelled(words).map((word) => [word, name] as const))
)

/** The header field of a line, by its text up to the colon. */
export const fieldOf = (start: string): string | undefined =>
  fieldNames.get(
    start
      .replace(/^[\s>*|]+/, "")
      .replace(/\s*\*?\s*[:：]$/, "")
      .toLowerCase()
  )

/** Precedes a complete mail. */
export const head = new RegExp(
  `^[\\s>*]*(?:[-_=—]{2,}(?:\\s|&nbsp;)*(?:${originalWords})(?:\\s|&nbsp;)*:?\\s*(?:[-_=—]{2,})?[\\s*]*|(?:${forwardedWords})\\s*[:：]?\\s*)$`,
  "iu"
)
/** Precedes the header of a complete mail, in any words. */
export const dashed = /^[\s>*]*-{3,}\s*\p{L}[\p{L} '’:.-]{2,40}?\s*-{3,}[\s*]*$/u
/** A rule of mail programs, too long for an author's. */
export const ruled = /^[\s>*]*(?:-{10,}|_{10,}|={10,})\s*$/
/** The line of support systems above a mail to be answered, with the mark that authors do not write. */
export const above = /^\s*[#*_=—–-]{2,}.{0,60}\b(?:reply|answer|respond|type)\b.{0,30}\babove this line\b/i

const device = new RegExp(`^[\\s(<*\\[]*(?:${deviceWords})`, "iu")
const deviceEnd = new RegExp(`^[\\s(<*\\[]*(?:${deviceEnds})`, "iu")

/** One of these is in each match of `deviceEnd` and in each Markdown link. Most lines contain none. */
const partsOfDevices = ["[", "]", "(", "mobi", "Mobi", "MOBI", "kü", "gö", "送信", "入手", "에서", "다운"]

/** Whether a text has one of them. The platform finds them faster than a regular expression. */
export const mayHaveDevice = (text: string): boolean => partsOfDevices.some((part) => text.includes(part))

/**
 * True for a line that begins like the footer of a phone or mail program. Ignores URLs of Markdown links. `hasParts` if
 * its text may have one at the end of a line.
 */
export const isDevice = (line: string, hasParts: boolean): boolean => {
  if (!hasParts || !mayHaveDevice(line)) return device.test(line)
  const words = line.replace(/[[\]]|\([^()\s]{0,200}\)/g, "")
  return device.test(words) || deviceEnd.test(words)
}

export const divider = /^\s*(?:[-_=~#*+,]{2,}|[—–ᐧ]+)\s*$/
export const quoted = /^\s{0,4}>/
export const quotedByName = /^\s{0,4}(?:\||\p{L}{1,12}>)/u
export const footerStart = new RegExp(`^[\\s*_]*(?:${footerStarts})`, "i")
export const footerPhrase = new RegExp(footerPhrases, "i")
export const reachable = /https?:|www\.|\S@\S|\+?\d[\d ()/.-]{6,}\d/
/** The end of a sentence, not of the name of a company. */
export const full = /(?<!\b(?:Co|Corp|Inc|Ltd))[.?!…]$/
export const directions = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g
