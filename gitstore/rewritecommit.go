package gitstore

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// dropped lists the headers that a replaced commit loses, because they are about the old one.
var dropped = []string{"gpgsig", "gpgsig-sha256", "mergetag"}

// rewriteCommit returns a commit with another tree and other parents. A purged one loses its
// message and its optional headers.
func rewriteCommit(data []byte, tree ID, parents []ID, purged bool) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	message := eachHeader(data, func(key string, text []byte) {
		switch {
		case key == "tree" || key == "parent" || slices.Contains(dropped, key):
		case purged && key != "author" && key != "committer":
		default:
			b.Write(text)
		}
	})
	b.WriteByte('\n')
	if purged {
		b.WriteString(PurgedMessage)
	} else {
		b.Write(message)
	}
	return b.Bytes()
}

// commitText returns the parts of a commit that its author wrote: unusual headers and the message.
func commitText(data []byte) (headers, message string) {
	var b bytes.Buffer
	text := eachHeader(data, func(key string, text []byte) {
		switch key {
		case "tree", "parent", "author", "committer", "gpgsig", "gpgsig-sha256":
		default:
			b.Write(text)
		}
	})
	return b.String(), string(text)
}

// eachHeader calls fn for each header with its lines, and returns the message.
func eachHeader(data []byte, fn func(key string, text []byte)) (message []byte) {
	for len(data) > 0 && data[0] != '\n' {
		end := 0
		for {
			i := bytes.IndexByte(data[end:], '\n')
			if i < 0 {
				end = len(data)
				break
			}
			end += i + 1
			if end >= len(data) || data[end] != ' ' {
				break
			}
		}
		key, _, _ := strings.Cut(string(data[:min(end, 64)]), " ")
		fn(key, data[:end])
		data = data[end:]
	}
	if len(data) > 0 {
		data = data[1:]
	}
	return data
}
