# HTTP requests in base R.
#
# `url()` and `download.file()` show neither the headers nor the body of an error, and Tidings has the state of
# the corpus in a header and the place of a mistake in the body. Plain http, which is what a server on the same
# machine speaks, goes over a socket; https needs TLS and goes through the program curl.

# list(status, headers, body): the names of headers are in lower case, the body is a raw vector.
http_get <- function(address, token, timeout) {
  parts <- regmatches(address, regexec("^http://([^/:@]+)(?::([0-9]+))?(/.*)?$", address, perl = TRUE))[[1]]
  headers <- c(Accept = "application/json, text/csv", `User-Agent` = "tidings-r")
  if (nzchar(token)) headers["Authorization"] <- paste("Bearer", token)
  if (length(parts) == 0) return(curl_get(address, headers, timeout))
  port <- if (nzchar(parts[3])) as.integer(parts[3]) else 80L
  socket_get(parts[2], port, if (nzchar(parts[4])) parts[4] else "/", headers, timeout)
}

socket_get <- function(host, port, path, headers, timeout) {
  where <- if (port == 80L) host else paste0(host, ":", port)
  socket <- tryCatch(
    suppressWarnings(socketConnection(host, port, open = "r+b", blocking = TRUE, timeout = timeout)),
    error = function(error) {
      message <- paste0("no server at http://", where, "/; start one with `tidings serve`")
      tidings_stop(message, "tidings_connection_error")
    }
  )
  on.exit(close(socket))
  fields <- c(Host = where, Connection = "close", headers)
  head <- c(paste("GET", path, "HTTP/1.1"), paste0(names(fields), ": ", fields))
  writeBin(charToRaw(paste0(paste(head, collapse = "\r\n"), "\r\n\r\n")), socket)
  parse_response(read_all(socket, where, timeout))
}

read_all <- function(socket, where, timeout) {
  chunks <- list()
  deadline <- proc.time()[["elapsed"]] + timeout
  repeat {
    chunk <- readBin(socket, "raw", 65536L)
    if (length(chunk) == 0) return(as.raw(unlist(chunks)))
    chunks[[length(chunks) + 1]] <- chunk
    if (proc.time()[["elapsed"]] > deadline) {
      tidings_stop(paste0(where, " did not answer within ", timeout, " s"), "tidings_connection_error")
    }
  }
}

curl_get <- function(address, headers, timeout) {
  if (!nzchar(Sys.which("curl"))) {
    tidings_stop("addresses with https need the program curl, which is not on the PATH", "tidings_connection_error")
  }
  files <- tempfile(c("config", "head", "body"))
  on.exit(unlink(files))
  # The token is in a file that only the user may read, because other users see the arguments of programs.
  file.create(files[1])
  Sys.chmod(files[1], "0600")
  quoted <- function(text) paste0("\"", gsub("([\"\\\\])", "\\\\\\1", text), "\"")
  writeLines(c(
    "silent", "show-error", "globoff", paste("max-time =", timeout), paste("url =", quoted(address)),
    paste("header =", quoted(paste0(names(headers), ": ", headers))),
    paste("dump-header =", quoted(files[2])), paste("output =", quoted(files[3]))
  ), files[1], useBytes = TRUE)
  printed <- suppressWarnings(system2("curl", c("--config", shQuote(files[1])), stdout = TRUE, stderr = TRUE))
  if (!is.null(attr(printed, "status"))) {
    tidings_stop(paste(c(paste0("cannot read ", address), printed), collapse = "\n"), "tidings_connection_error")
  }
  head <- readBin(files[2], "raw", file.size(files[2]))
  body <- if (file.exists(files[3])) readBin(files[3], "raw", file.size(files[3])) else raw()
  # curl has checked the framing and joined the chunks; a proxy may have answered before the server.
  blocks <- strsplit(gsub("\r", "", rawToChar(head)), "\n\n", fixed = TRUE)[[1]]
  c(parse_head(blocks[length(blocks)]), list(body = body))
}

# The response to a request with `Connection: close`.
parse_response <- function(bytes) {
  end <- find_bytes(bytes, charToRaw("\r\n\r\n"))
  if (is.na(end)) tidings_stop("the answer of the server is no HTTP response", "tidings_connection_error")
  response <- parse_head(gsub("\r", "", rawToChar(bytes[seq_len(end - 1)])))
  body <- bytes[-seq_len(end + 3)]
  if (identical(response$headers[["transfer-encoding"]], "chunked")) {
    body <- join_chunks(body)
  } else if (!is.null(response$headers[["content-length"]])) {
    if (length(body) < as.numeric(response$headers[["content-length"]])) incomplete()
  }
  c(response, list(body = body))
}

parse_head <- function(text) {
  lines <- strsplit(text, "\n", fixed = TRUE)[[1]]
  fields <- lines[-1]
  values <- as.list(sub("^[^:]*:[ \t]*", "", fields))
  names(values) <- tolower(sub(":.*$", "", fields))
  list(status = as.integer(sub("^HTTP/[0-9.]+ ([0-9]{3}).*$", "\\1", lines[1])), headers = values)
}

# The body of a chunked response. A stream that exceeds the time limit of the server has no last chunk.
join_chunks <- function(bytes) {
  parts <- list()
  at <- 1L
  repeat {
    window <- bytes[at:min(at + 20L, length(bytes))]
    end <- if (at > length(bytes)) NA else find_bytes(window, charToRaw("\r\n"))
    if (is.na(end)) incomplete()
    size <- strtoi(sub(";.*", "", rawToChar(window[seq_len(end - 1)])), 16L)
    if (size == 0L) return(as.raw(unlist(parts)))
    first <- at + end + 1L
    if (first + size - 1L > length(bytes)) incomplete()
    parts[[length(parts) + 1]] <- bytes[first:(first + size - 1L)]
    at <- first + size + 2L
  }
}

incomplete <- function() {
  message <- "the answer is incomplete: the server reached its time limit, or the connection broke"
  tidings_stop(message, "tidings_connection_error")
}

# The position of the first occurrence of a pattern, or NA.
find_bytes <- function(bytes, pattern) {
  starts <- which(bytes == pattern[1])
  for (start in starts[starts <= length(bytes) - length(pattern) + 1]) {
    if (all(bytes[start + seq_along(pattern) - 1] == pattern)) return(start)
  }
  NA_integer_
}
