package sandbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
)

// keptFrom returns the system calls that Docker's filter denies without a capability, and Podman's
// does not. With them a command becomes root of a user namespace, where it reaches parts of the
// kernel written for root.
func keptFrom() []string {
	return []string{"unshare", "setns", "mount", "umount", "umount2", "mount_setattr", "move_mount", "open_tree", "fsopen", "fsconfig", "fsmount", "fspick", "pivot_root",
		"keyctl", "add_key", "request_key", "reboot", "io_uring_setup", "io_uring_enter", "io_uring_register"}
}

// newNamespaces are the flags of clone that make namespaces: CLONE_NEWNS, NEWCGROUP, NEWUTS,
// NEWIPC, NEWUSER, NEWPID and NEWNET.
const newNamespaces = 0x7e020000

// Linux error numbers for denied system calls, on any build platform.
const (
	notPermitted = 1  // EPERM
	notThere     = 38 // ENOSYS: a C library then uses
)

// filterRule is a rule of a filter in the format of Podman and Docker.
type filterRule struct {
	Names    []string            `json:"names"`
	Action   string              `json:"action"`
	Args     json.RawMessage     `json:"args,omitempty"`
	Comment  string              `json:"comment,omitempty"`
	Includes map[string][]string `json:"includes,omitempty"`
	Excludes map[string][]string `json:"excludes,omitempty"`
	ErrnoRet *uint               `json:"errnoRet,omitempty"`
	Errno    string              `json:"errno,omitempty"`
}

// narrowFilter reads Podman's filter of system calls from a file. It drops the calls in keptFrom,
// and allows clone only for processes and threads.
func narrowFilter(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: the filter of system calls: %w", ErrWeak, err)
	}
	var filter map[string]json.RawMessage
	var rules []filterRule
	if err = json.Unmarshal(text, &filter); err == nil {
		err = json.Unmarshal(filter["syscalls"], &rules)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the filter of system calls %s: %w", ErrWeak, path, err)
	}
	if bytes.Contains(filter["defaultAction"], []byte("ALLOW")) {
		return nil, fmt.Errorf("%w: the filter of system calls %s allows what it does not name", ErrWeak, path)
	}
	var taken []string
	for i, r := range rules {
		if r.Action != "SCMP_ACT_ALLOW" || len(r.Includes["caps"]) > 0 {
			continue
		}
		rules[i].Names = slices.DeleteFunc(slices.Clone(r.Names), func(name string) bool {
			if name == "clone" || name == "clone3" {
				return true
			}
			kept := slices.Contains(keptFrom(), name)
			if kept && !slices.Contains(taken, name) {
				taken = append(taken, name)
			}
			return kept
		})
	}
	rules = slices.DeleteFunc(rules, func(r filterRule) bool { return len(r.Names) == 0 })
	masked := func(argument int) json.RawMessage {
		return fmt.Appendf(nil, `[{"index":%d,"value":%d,"valueTwo":0,"op":"SCMP_CMP_MASKED_EQ"}]`, argument, newNamespaces)
	}
	eperm, enosys := uint(notPermitted), uint(notThere)
	// There the flags are the second argument.
	others := map[string][]string{"arches": {"s390", "s390x"}}
	rules = append(rules,
		filterRule{Names: []string{"clone"}, Action: "SCMP_ACT_ALLOW", Args: masked(0), Excludes: others},
		filterRule{Names: []string{"clone"}, Action: "SCMP_ACT_ALLOW", Args: masked(1), Includes: others},
		// Its flags are in memory that a filter cannot read.
		filterRule{Names: []string{"clone3"}, Action: "SCMP_ACT_ERRNO", ErrnoRet: &enosys})
	if len(taken) > 0 {
		rules = append(rules, filterRule{Names: taken, Action: "SCMP_ACT_ERRNO", ErrnoRet: &eperm})
	}
	if filter["syscalls"], err = json.Marshal(rules); err != nil {
		return nil, err
	}
	return json.Marshal(filter)
}
