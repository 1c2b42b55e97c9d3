package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"unicode"
)

// isTarget reports whether s is a host and a port.
func isTarget(s string) bool {
	host, port, err := net.SplitHostPort(s)
	n, err2 := strconv.ParseUint(port, 10, 16)
	return err == nil && err2 == nil && n > 0 && host != "" && !strings.ContainsAny(host, "*/@ ")
}

// isVariable reports whether s is the name of a variable, without a value.
func isVariable(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '_' && (r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r))
	})
}

// textsThat accepts a list of texts that all satisfy ok.
func textsThat(ok func(string) bool, example string) func(v any) ([]string, error) {
	return listOf(func(v any) (string, error) {
		s, isText := v.(string)
		if !isText || !ok(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return "", fmt.Errorf("%v is not one such as %s", v, example)
		}
		return s, nil
	}, example)
}
