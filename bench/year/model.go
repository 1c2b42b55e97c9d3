package main

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"strings"
)

// model is the expected memory of one clone, or of the remote, computed without the product's code.
// It only grows, so two of them merge by union in any order.
type model struct {
	said    map[string]map[string]bool // by id: texts; false once an edit replaced it
	retired map[string]bool
	purged  map[string]bool
}

func newModel() *model {
	return &model{said: map[string]map[string]bool{}, retired: map[string]bool{}, purged: map[string]bool{}}
}

// idOf computes the id of a statement as FORMAT.md defines it, for texts that are normal but for
// case, backquotes and the full stop.
func idOf(text string) string {
	normal := strings.TrimRight(strings.ToLower(strings.ReplaceAll(text, "`", "")), " .")
	return fmt.Sprintf("%x", sha256.Sum256([]byte("text\x00"+normal+"\n")))[:16]
}

func (m *model) add(text string) string {
	id := idOf(text)
	if m.said[id] == nil {
		m.said[id] = map[string]bool{text: true}
	}
	return id
}

func (m *model) edit(id, text string) {
	for old := range m.said[id] {
		m.said[id][old] = false
	}
	m.said[id][text] = true
}

func (m *model) purge(id string) {
	m.purged[id] = true
	delete(m.said, id)
}

// texts returns the texts of a memory that are in force.
func (m *model) texts(id string) (now []string) {
	for text, live := range m.said[id] {
		if live {
			now = append(now, text)
		}
	}
	return now
}

// merge takes everything of another model over.
func (m *model) merge(o *model) {
	maps.Copy(m.retired, o.retired)
	for id := range o.purged {
		m.purge(id)
	}
	for id, texts := range o.said {
		if m.purged[id] {
			continue
		}
		if m.said[id] == nil {
			m.said[id] = map[string]bool{}
		}
		for text, live := range texts {
			mine, known := m.said[id][text]
			m.said[id][text] = live && (mine || !known)
		}
	}
}

// listed is one memory as list --json prints it.
type listed struct {
	ID, Status, Text string
	Variants         []string
}

// lost lists the differences of a clone's memory from the model: a statement that is gone, changed,
// back, or in the wrong state, and one without an author in the model.
func (m *model) lost(all []listed) (wrong []string) {
	there := map[string]bool{}
	for _, l := range all {
		there[l.ID] = true
		texts := m.said[l.ID]
		if texts == nil {
			wrong = append(wrong, "never said, or purged: "+l.ID+" "+l.Text)
			continue
		}
		has := append([]string{l.Text}, l.Variants...)
		want := m.texts(l.ID)
		status := "active"
		if m.retired[l.ID] {
			status = "retired"
		} else if len(want) > 1 {
			status = "contested"
		}
		if len(has) != len(want) || l.Status != status {
			wrong = append(wrong, fmt.Sprintf("%s is %s %q, not %s %q", l.ID, l.Status, has, status, want))
			continue
		}
		for _, text := range has {
			if !texts[text] {
				wrong = append(wrong, fmt.Sprintf("%s says %q, not %q", l.ID, text, want))
			}
		}
	}
	for id := range m.said {
		if !there[id] {
			wrong = append(wrong, fmt.Sprintf("%s is gone: %q", id, m.texts(id)))
		}
	}
	return wrong
}
