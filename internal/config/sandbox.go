package config

import (
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// sandboxModes are the values of sandbox.mode. A team may choose one of the later ones if the user
// has none.
var sandboxModes = []string{Off, "docker", "podman"}

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

// texts converts a list of texts that all satisfy ok.
func texts(v any, ok func(string) bool, example string) ([]string, error) {
	list, isList := v.([]any)
	if !isList {
		return nil, fmt.Errorf("%v is not a list such as [%q]", v, example)
	}
	out := []string{}
	for _, w := range list {
		s, isText := w.(string)
		if !isText || !ok(s) || strings.ContainsFunc(s, unicode.IsControl) {
			return nil, fmt.Errorf("%v is not one such as %s", w, example)
		}
		out = append(out, s)
	}
	return out, nil
}

// onlyOf lets a team remove entries from a list.
func onlyOf(list *[]string, v any, ok func(string) bool, example string) error {
	allowed, err := texts(v, ok, example)
	*list = slices.DeleteFunc(slices.Clone(*list), func(s string) bool { return !slices.Contains(allowed, s) })
	return err
}

// lower lets a team lower a limit, but not below least.
func lower(limit *int, v any, least int64) error {
	n, err := number(v, least, math.MaxInt32)
	if err == nil {
		*limit = min(*limit, n)
	}
	return err
}
