package redact

import "strings"

// maxPrivateKey is the longest private key, in bytes with its lines' decoration.
const maxPrivateKey = 64 << 10

// lookPrivateKey looks for a PEM or OpenPGP private key that begins here: `-----BEGIN … PRIVATE KEY-----` and lines
// of base64 after it, as they are, escaped, URL-encoded, quoted line by line or indented. The end may be missing.
func lookPrivateKey(text string, at int, found []span) []span {
	start := dashes(text, at)
	body := label(text, at+len("begin "))
	if start < 0 || body < 0 {
		return found
	}
	end, weight := keyBody(text, body)
	if weight < 24 {
		return found // code that names the line
	}
	if strings.HasPrefix(text[end:], "-----END ") || strings.HasPrefix(text[end:], "---- END ") {
		if i := label(text, end+len("-----END ")); i > 0 {
			end = i
		}
	}
	return append(found, span{start, end, rulePrivateKey})
}

// lookPrivateKeyTail looks for a private key whose beginning is missing.
func lookPrivateKeyTail(text string, at int, found []span) []span {
	tail := dashes(text, at)
	end := label(text, at+len("end "))
	if tail < 0 || end < 0 {
		return found
	}
	start, lines := tail, 0
	for start > 0 && tail-start < maxPrivateKey {
		i := start
		for i > 0 && (kind[text[i-1]] == kSpace || isOneOf(text[i-1], "\"'\\,+|>")) {
			i--
		}
		if i < start && i > 0 && strings.HasSuffix(text[:i+2], `\n`) && i+2 <= start {
			start = i
		}
		line := base64Set.back(text, i, 4096)
		if line > 0 && text[line-1] == '\\' && text[line] == 'n' {
			line++
		}
		if i-line < 40 && !(lines == 0 && i-line >= 4) {
			break
		}
		start = line
		lines++
	}
	if tail-start < 24 {
		return found
	}
	return append(found, span{start, end, rulePrivateKey})
}

// dashes returns the start of the four or five dashes before BEGIN or END, or -1.
func dashes(text string, at int) int {
	i := at
	if i > 0 && text[i-1] == ' ' {
		i--
	}
	n := 0
	for i > 0 && n < 5 && text[i-1] == '-' {
		i--
		n++
	}
	if n < 4 {
		return -1
	}
	return i
}

// label returns the end of the line of a private key whose label begins at text[at], or -1.
func label(text string, at int) int {
	if at > len(text) {
		return -1
	}
	i := strings.Index(text[at:min(len(text), at+64)], "----")
	if i < 0 || !strings.Contains(text[at:at+i], "PRIVATE") || !strings.Contains(text[at:at+i], "KEY") || strings.ContainsAny(text[at:at+i], "\n\"'\\") {
		return -1
	}
	end := at + i
	for end < len(text) && text[end] == '-' {
		end++
	}
	return end
}

// keyBody follows lines of base64 and of headers from text[at] on. It returns where they end and how many bytes of
// base64 there are.
func keyBody(text string, at int) (end, weight int) {
	end = at
	i := at
	for i < len(text) && i-at < maxPrivateKey {
		j := decoration(text, i)
		run := keySet.run(text, j, maxPrivateKey)
		if run < len(text) && text[run] == ':' && run > j || run < len(text) && text[run] == '-' && run > j && run-j < 12 {
			// Proc-Type: 4,ENCRYPTED
			for run < len(text) && text[run] != '\n' && text[run] != '\\' {
				run++
			}
			if run-j > 200 {
				return end, weight
			}
			i = run
			continue
		}
		if n := run - j; n < 16 && (weight == 0 || n == 0 || j == i) {
			if n == 0 && strings.HasPrefix(text[j:], "----") {
				end = j
			}
			return end, weight
		}
		weight += run - j
		end, i = run, run
	}
	return end, weight
}

// decoration skips what may stand between two lines of a key: blanks, line ends as they are or escaped, quotes,
// pluses and commas, prompts and list signs, colours.
func decoration(text string, i int) int {
	for limit := i + 160; i < len(text) && i < limit; {
		c := text[i]
		switch {
		case c == '\\' && i+1 < len(text) && isOneOf(text[i+1], "nrt"):
			i += 2
		case kind[c] == kSpace || isOneOf(c, "\"'`\\,|>#*;"):
			i++
		case c == '+' && i+1 < len(text) && kind[text[i+1]] == kSpace:
			i++
		case c == '<' && strings.HasPrefix(text[i:], "<br>"):
			i += len("<br>")
		default:
			j := colourEnd(text, i)
			if j == i {
				return i
			}
			i = j
		}
	}
	return i
}
