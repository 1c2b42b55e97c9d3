package record

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var aSkill = SkillFile{Name: "add-a-migration", Description: `Add a "migration". When a table changes.`, Workflow: "Run `make migration`.", Body: "# Steps\n\n1. `make migration`"}

func TestSkillForm(t *testing.T) {
	want := "---\nname: add-a-migration\ndescription: \"Add a \\\"migration\\\". When a table changes.\"\nmetadata:\n  workflow: \"Run `make migration`.\"\n---\n\n# Steps\n\n1. `make migration`\n"
	if diff := cmp.Diff(want, string(aSkill.Format())); diff != "" {
		t.Error(diff)
	}
	got, err := ParseSkill(aSkill.Path(), aSkill.Format())
	if diff := cmp.Diff(aSkill, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	byHand := "---\nname: x\ndescription: Do it: when asked\nlicense: MIT\n---\nBody\n"
	if got, err := ParseSkill("skills/x/SKILL.md", []byte(byHand)); err != nil || got.Description != "Do it: when asked" {
		t.Errorf("%v %q", err, got.Description)
	}
	for _, tt := range []struct{ at, text, want string }{
		{"skills/../x/SKILL.md", byHand, "a skill's path"},
		{"skills/X/SKILL.md", byHand, "a skill's path"},
		{"skills/-x/SKILL.md", byHand, "a skill's path"},
		{"skills/x/run.sh", byHand, "a skill's path"},
		{"skills/x/y/SKILL.md", byHand, "a skill's path"},
		{"memories/x/SKILL.md", byHand, "a skill's path"},
		{"skills/y/SKILL.md", byHand, `name: is "x", and the folder is named "y"`},
		{"skills/x/SKILL.md", "Body\n", ":1: does not begin with a line ---"},
		{"skills/x/SKILL.md", "---\nname: x\n", "has no second line ---"},
		{"skills/x/SKILL.md", "---\nname: x\n---\nBody\n", "description: is not one line"},
		{"skills/x/SKILL.md", "---\nname: x\ndescription: \"a\\nb\"\n---\nBody\n", "description: is not one line"},
		{"skills/x/SKILL.md", "---\nname: x\ndescription: \"a\n---\nBody\n", ":3: description: is no string"},
		{"skills/x/SKILL.md", "---\nname: x\ndescription: a\n---\n\n", "says nothing"},
		{"skills/x/SKILL.md", strings.Replace(byHand, "Body", "Bo\u202edy", 1), "characters that a reader does not see"},
		{"skills/x/SKILL.md", strings.Replace(byHand, "Body", "Bo\xffdy", 1), "is not UTF-8"},
		{"skills/x/SKILL.md", byHand + strings.Repeat("x", MaxSkill), "a skill may have 16384"},
	} {
		if _, err := ParseSkill(tt.at, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %.40q: %v, want %s", tt.at, tt.text, err, tt.want)
		}
	}
}

func FuzzParseSkill(f *testing.F) {
	f.Add("skills/add-a-migration/SKILL.md", aSkill.Format())
	f.Add("skills/x/SKILL.md", []byte("---\nname: x\ndescription: a\n---\nb"))
	f.Fuzz(func(t *testing.T, at string, data []byte) {
		s, err := ParseSkill(at, data)
		if err != nil {
			return
		}
		if s.Path() != at {
			t.Fatalf("%q lies at %q", s.Path(), at)
		}
		text := s.Format()
		if len(text) > MaxSkill {
			return // escapes take more room than what a person wrote
		}
		again, err := ParseSkill(at, text)
		if err != nil || string(again.Format()) != string(text) {
			t.Fatalf("%v: %q became %q", err, text, again.Format())
		}
	})
}

// update runs fn in an Update that must succeed.
func update(t *testing.T, b *Book, fn func(*Tx) error) {
	t.Helper()
	if err := b.Update(t.Context(), fn); err != nil {
		t.Fatal(err)
	}
}

// waits returns the operations in the inbox.
func waits(t *testing.T, b *Book) (ops []Operation) {
	t.Helper()
	err := b.View(t.Context(), func(v *View) (err error) {
		ops, err = v.Inbox().Operations()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return ops
}

func TestAcceptSkill(t *testing.T) {
	b, r, _ := newBook(t)
	o := NewSkill(Operation{How: Model, Sightings: []Sighting{{Client: "claude", Session: "s1"}}}, aSkill)
	update(t, b, func(tx *Tx) error { return tx.PutOperation(o) })
	shown := waits(t, b)
	if len(shown) != 1 || shown[0].Memory.Text != "add-a-migration: "+aSkill.Description {
		t.Fatalf("%v", shown)
	}
	update(t, b, func(tx *Tx) error { return tx.Accept(shown[0]) })
	if got := r.Run("show", "reverie/memory:"+aSkill.Path()); got != strings.TrimSpace(string(aSkill.Format())) && got != string(aSkill.Format()) {
		t.Errorf("%q", got)
	}
	err := b.View(t.Context(), func(v *View) error {
		skills, err := v.Branch().Skills()
		if len(skills) != 1 || skills[0] != aSkill {
			t.Errorf("%v", skills)
		}
		return err
	})
	if ops := waits(t, b); err != nil || len(ops) != 0 {
		t.Errorf("%v: %d wait", err, len(ops))
	}

	// A repeated accept, as after an interruption, does nothing. A different skill does not overwrite
	// it.
	update(t, b, func(tx *Tx) error { return tx.PutOperation(o) })
	update(t, b, func(tx *Tx) error { return tx.Accept(o) })
	if ops := waits(t, b); len(ops) != 0 {
		t.Errorf("%d wait", len(ops))
	}
	other := aSkill
	other.Body += "\n2. more"
	if err := b.Update(t.Context(), func(tx *Tx) error { return tx.Accept(NewSkill(Operation{How: Model}, other)) }); !errors.Is(err, ErrChanged) {
		t.Errorf("put over another: %v", err)
	}
	o.Path = "skills/../../etc/SKILL.md"
	if err := b.Update(t.Context(), func(tx *Tx) error { return tx.Accept(o) }); err == nil {
		t.Error("a path that leads elsewhere was written")
	}
}

// An accept of any operation that was interrupted between the branch and the inbox is recognised
// the next time.
func TestAcceptAgain(t *testing.T) {
	for _, op := range []Op{Edit, Merge, Retire} {
		t.Run(string(op), func(t *testing.T) {
			b, _, _ := newBook(t)
			source := Source{By: "human", How: Written}
			one, two := New(Memory{Kind: Fact, Text: "The first of two facts.", Source: source}), New(Memory{Kind: Fact, Text: "The second of two facts.", Source: source})
			put(t, b, one, two)
			o := Operation{Op: op, How: Model, Memory: one}
			switch op {
			case Edit:
				o.Memory.Text = "The first of two facts, in other words."
			case Retire:
				o.Memory = one.Retire("It is none.")
			case Merge:
				o.Memory = New(Memory{Kind: Fact, Text: "There are two facts.", Source: source, Supersedes: slices.Sorted(slices.Values([]string{one.ID, two.ID}))})
			}
			err := b.View(t.Context(), func(v *View) error {
				for _, m := range []Memory{one, two} {
					if blob, ok := v.Blob(m.ID); ok && (m.ID == one.ID || op == Merge) {
						o.Base = append(o.Base, Base{ID: m.ID, Path: m.Path(), Blob: string(blob)})
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			o = NewOperation(o)
			update(t, b, func(tx *Tx) error { return tx.Accept(o) })
			after := texts(t, b)
			update(t, b, func(tx *Tx) error { return tx.PutOperation(o) })
			update(t, b, func(tx *Tx) error { return tx.Accept(o) })
			if diff := cmp.Diff(after, texts(t, b)); diff != "" || len(waits(t, b)) != 0 {
				t.Errorf("%d wait; %s", len(waits(t, b)), diff)
			}
			// Not if the skill has changed since.
			update(t, b, func(tx *Tx) error {
				held, err := tx.Find(o.Memory.ID)
				if err != nil {
					return err
				}
				changed := held.Revive()
				changed.Text = "Somebody else says something else."
				return tx.PutMemory(changed, &held)
			})
			if err := b.Update(t.Context(), func(tx *Tx) error { return tx.Accept(o) }); !errors.Is(err, ErrChanged) {
				t.Errorf("after a change: %v", err)
			}
		})
	}
}

func TestDreamOfAModel(t *testing.T) {
	d := NewDream(Dream{Model: "m:1b", Digest: "abc", Prompt: "p q", Weighed: []string{"b", "a"}, Distilled: []string{"c"}, Notes: "- so"}, "tree")
	got, err := ParseDream(d.Path(), d.Format())
	if diff := cmp.Diff(d, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	other := d
	other.Weighed = []string{"z"}
	if NewDream(other, "tree").ID == d.ID {
		t.Error("two dreams have one id")
	}
}

// A folder that has the name of a device cannot be checked out on Windows.
func TestSkillNameIsNoDevice(t *testing.T) {
	for words, want := range map[string]string{
		"con": "con-skill", "Nul": "nul-skill", "AUX.": "aux-skill", "prn": "prn-skill", "com1": "com1-skill", "Lpt 9": "lpt-9", "lpt9": "lpt9-skill",
		"conin": "conin", "com10": "com10", "con job": "con-job", "…": "", "Add a migration": "add-a-migration",
	} {
		if got := SkillName(words); got != want {
			t.Errorf("SkillName(%q) = %q, want %q", words, got, want)
		}
	}
}
