//! What was probably meant by a line that is not valid TOML.

/// Quotation marks that editors and web pages substitute for `"` and `'`.
const CURLY_QUOTES: [char; 10] = ['“', '”', '„', '‟', '‘', '’', '‚', '«', '»', '″'];
/// Comment markers of other languages.
const COMMENT_MARKERS: [&str; 6] = ["//", ";", "!", "%", "--", "/*"];

/// A plain explanation of the parser's `message` for `line`, if the mistake is a common one. `found` is the text at which the
/// parser stopped.
pub(super) fn explain(line: &str, found: &str, message: &str) -> Option<String> {
    let line = line.trim();
    if message == "duplicate key" {
        return Some(match line.starts_with('[') {
            true => format!("section [{}] appears twice", found.trim()),
            false => format!("`{}` appears twice", found.trim()),
        });
    }
    if let Some(quote) = line.chars().find(|c| CURLY_QUOTES.contains(c)) {
        return Some(format!("`{quote}` is not a TOML quotation mark; use \" or '"));
    }
    if COMMENT_MARKERS.iter().any(|begin| line.starts_with(begin)) {
        return Some("a comment begins with `#`".into());
    }
    let Some((key, value)) = line.split_once('=') else {
        let pair = line.contains(':') && !line.starts_with('[');
        return pair.then(|| "a key and its value are joined by `=`, not by `:`".into());
    };
    let (key, value) = (key.trim(), value.trim());
    if key.is_empty() {
        return Some("a key is missing before `=`".into());
    }
    if value.is_empty() || value.starts_with('#') {
        return Some(format!("a value is missing after `{key} =`"));
    }
    explain_value(uncommented(value), message)
}

/// Whether an array or a table of a previous line is not closed: the parser reads all further lines as a part of it.
pub(super) fn is_unclosed_above(line: &str, message: &str) -> bool {
    let line = line.trim();
    message.contains("array")
        && line.starts_with('[')
        && !line.contains('=')
        && message != "duplicate key"
        && !message.starts_with("unclosed")
}

/// The same for the value of a key.
fn explain_value(value: &str, message: &str) -> Option<String> {
    if let Some(quote) = value.chars().next().filter(|c| "\"'".contains(*c)) {
        let open = value.matches(quote).count() == 1;
        return open.then(|| format!("a string is not closed: a {quote} is missing at its end"));
    }
    let bare = value.trim_matches(|c| "[](){}".contains(c));
    let is_list = value.starts_with('[') || value.starts_with('(') || value.starts_with('{');
    let words: Vec<&str> = bare.split([',', ' ', '\t']).filter(|word| !word.is_empty()).collect();
    let numbers = words.iter().all(|word| word.parse::<f64>().is_ok());
    if numbers && words.len() > 1 {
        let array = format!("[{}]", words.join(", "));
        return Some(match value.chars().next() {
            Some('[') if bare.matches(',').count() + 1 >= words.len() => return None,
            Some('[') => format!("the values of an array are separated by commas: {array}"),
            _ if words.len() == 2 && bare.contains(',') && !bare.contains(' ') => {
                format!("a decimal number has a point: {}", words.join("."))
            }
            _ => format!("several values need brackets: {array}"),
        });
    }
    if is_list {
        let colon = bare.contains(':') && message.contains('=');
        let explanation = match message {
            _ if colon => "a key and its value are joined by `=`, not by `:`",
            comma if comma.contains("missing comma") => {
                "the values of an array are separated by commas"
            }
            _ => return None,
        };
        return Some(explanation.into());
    }
    if bare.contains('=') {
        let explanation =
            message.starts_with("unexpected key").then_some("each key needs a line of its own");
        return explanation.map(Into::into);
    }
    if let Some((_, comment)) = value.split_once(char::is_whitespace)
        && COMMENT_MARKERS.iter().any(|begin| comment.trim_start().starts_with(begin))
    {
        return Some("a comment begins with `#`".into());
    }
    if value.contains(';') {
        return Some("a line does not end with `;`; a comment begins with `#`".into());
    }
    explain_word(value)
}

/// The same for a value that is a single word.
fn explain_word(word: &str) -> Option<String> {
    let number = |text: &str| text.parse::<f64>().is_ok_and(f64::is_finite);
    let lower = word.to_lowercase();
    let digits = word.trim_start_matches(['+', '-']);
    if number(word) && (digits.starts_with('.') || word.ends_with('.') || word.contains(".e")) {
        return Some(
            "a decimal number has digits on both sides of its point, as in 0.5 or 1.0".into(),
        );
    }
    if digits.starts_with(|c: char| c.is_ascii_digit()) {
        if number(&lower.replacen('d', "e", 1)) && lower.contains('d') {
            let corrected = lower.replacen('d', "e", 1);
            return Some(format!("an exponent is written with e: {corrected}"));
        }
        let computed = word.contains(['/', '*', '^', '+', '(']);
        return computed.then(|| format!("`{word}` is not a number; an input has no arithmetic"));
    }
    match lower.as_str() {
        "true" | "false" => Some(format!("`{word}` is written `{lower}`")),
        "infinity" | "+infinity" => Some(format!("`{word}` is written `inf`")),
        _ => {
            let plain = |c: char| c.is_alphanumeric() || "-_./ ".contains(c);
            let is_word = word.starts_with(char::is_alphabetic) && word.chars().all(plain);
            is_word.then(|| {
                format!("`{word}` is not true, false or a number; a string needs quotes: {word:?}")
            })
        }
    }
}

/// `value` without a trailing comment.
fn uncommented(value: &str) -> &str {
    if value.contains(['"', '\'']) {
        value
    } else {
        value.split('#').next().unwrap_or(value).trim()
    }
}
