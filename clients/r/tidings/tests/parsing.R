# Parts that need no server.
library(tidings)
inside <- function(name) getFromNamespace(name, "tidings")

# JSON
parse <- inside("parse_json")
stopifnot(identical(parse('{"a":[1,2.5,-3e2],"b":{"c":null,"d":true},"e":[],"f":["x","y"]}'),
  list(a = c(1, 2.5, -300), b = list(c = NULL, d = TRUE), e = list(), f = c("x", "y"))))
stopifnot(identical(parse('"\\u00fc \\ud83d\\ude00 \\"\\\\\\n"'), "\u00fc \U0001f600 \"\\\n"))
stopifnot(identical(parse('[{"a":1},{"a":2}]'), list(list(a = 1), list(a = 2))))
for (wrong in c("", "{", '{"a" 1}', "[1,", "[1] 2")) stopifnot(inherits(try(parse(wrong), silent = TRUE), "try-error"))

# Time steps
start <- inside("step_start")
bins <- c("2026", "2026-H2", "2026-Q3", "2026-02", "2026-02-11..2026-02-20", "2026-02-11", "2026-W01", "2020-W53", "2027-W01")
days <- c("2026-01-01", "2026-07-01", "2026-07-01", "2026-02-01", "2026-02-11", "2026-02-11", "2025-12-29", "2020-12-28", "2027-01-04")
stopifnot(identical(start(bins), as.Date(days)), length(start(character())) == 0)

# Rows: words stay words, and the guard against formulas of spreadsheets is taken off again
csv <- "value,hits,per_million,first_seen,share\nNA,1,,2026-01-02,x\n'=1+1,2,0.5,,y\n\"TRUE, \"\"really\"\"\",3,1e-7,2026-01-03,z\n'tis,4,1,2026-01-04,\n"
rows <- inside("read_rows")(charToRaw(csv), fields = "share")
stopifnot(identical(rows$value, c("NA", "=1+1", "TRUE, \"really\"", "'tis")))
stopifnot(identical(rows$per_million, c(NA, 0.5, 1e-7, 1)), identical(rows$share, c("x", "y", "z", "")))
stopifnot(identical(rows$first_seen, as.Date(c("2026-01-02", NA, "2026-01-03", "2026-01-04"))))
series <- inside("read_rows")(charToRaw("months,hits\n1 2.5,1\n 3 ,2\n,3\n"), series = "months")$months
stopifnot(identical(unclass(series), list(c(1, 2.5), c(NA, 3, NA), numeric())))
umlaut <- inside("read_rows")(c(charToRaw("value,hits\n"), as.raw(c(0xc3, 0xbc)), charToRaw(",1\n")))
stopifnot(identical(umlaut$value, "\u00fc"))
stopifnot(nrow(inside("read_rows")(charToRaw("value,hits\n"))) == 0)

# Addresses
con <- structure(list(url = "http://h", token = ""), class = "tidings")
address <- inside("request_address")
stopifnot(address(con, "en/query", list(q = '[lc="\u00fc&a b"]', size = 100000, filter = NULL, panel = TRUE, since = as.Date("2026-01-02"),
  fields = c("date", "site"))) ==
  "http://h/api/v1/en/query?q=%5Blc%3D%22%C3%BC%26a%20b%22%5D&size=100000&panel=true&since=2026-01-02&fields=date%2Csite")

# Responses
response <- inside("parse_response")
whole <- "HTTP/1.1 200 OK\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\na;x=1\r\n0123456789\r\n0\r\n\r\n"
stopifnot(identical(rawToChar(response(charToRaw(whole))$body), "abcd0123456789"))
cut <- sub("0\r\n\r\n$", "", whole)
stopifnot(inherits(tryCatch(response(charToRaw(cut)), error = identity), "tidings_connection_error"))
short <- "HTTP/1.1 400 Bad Request\r\nContent-Length: 9\r\n\r\nshort"
stopifnot(inherits(tryCatch(response(charToRaw(short)), error = identity), "tidings_connection_error"))

# No server: the error says so
stopifnot(inherits(tryCatch(tidings_connect("http://127.0.0.1:9"), error = identity), "tidings_connection_error"))
stopifnot(inherits(tryCatch(tidings_connect("127.0.0.1"), error = identity), "tidings_error"))
