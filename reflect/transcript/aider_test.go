package transcript

import (
	"strings"
	"testing"
	"time"
)

// aiderHistory is how Aider writes: its own lines and a person's end with two spaces.
const aiderHistory = `
# aider chat started at 2026-01-31 15:04:05

> /usr/bin/aider --message first line  
second line of it  
> Aider v0.86.2  
> Main model: gpt-4o with diff edit format  

#### /add web/a.ts  
> Added web/a.ts to the chat  

#### Always use pnpm here.  
####   
#### # not a heading  

I will.

#### A heading of the answer

` + "```" + `
> quoted
` + "```" + `

> Tokens: 4.3k sent, 57 received.  
> Applied edit to web/a.ts  
> Running make test  

#### Run shell command? (Y)es/(N)o/(A)ll [Yes]: y  
#### <blank>  

# aider chat started at 2026-01-31 15:04:05

#### Thanks.  
`

func TestAiderPartsWhoSpeaks(t *testing.T) {
	got := decodeText(t, Auto, strings.TrimSuffix(aiderHistory, "\n"))
	if len(got.sessions) != 2 {
		t.Fatalf("%d sessions", len(got.sessions))
	}
	want := []string{
		"user/command: /add web/a.ts",
		"user/typed: Always use pnpm here.⏎⏎# not a heading",
		"assistant: I will.⏎⏎#### A heading of the answer⏎⏎```⏎> quoted⏎```",
		"call/edit edit: [web/a.ts]",
		"call/run run: $ make test",
		"user/injected: Run shell command? (Y)es/(N)o/(A)ll [Yes]: y⏎<blank>",
	}
	if d := diff(want, trimmed(got.sessions[0].brief())); d != "" {
		t.Error(d)
	}
	if d := diff([]string{"user/typed: Thanks."}, trimmed(got.sessions[1].brief())); d != "" {
		t.Error(d)
	}
	at, err := time.ParseInLocation(time.DateTime, "2026-01-31 15:04:05", time.Local)
	if err != nil {
		t.Fatal(err)
	}
	s := got.sessions[0].done
	if s.Client != "aider" || s.ID != "chat-20260131-150405" || s.Model != "gpt-4o" || s.Version != "0.86.2" || !s.Started.Equal(at) {
		t.Errorf("session %+v", s)
	}
	if id := got.sessions[1].done.ID; id != "chat-20260131-150405-again" {
		t.Errorf("the second in one second is %s", id)
	}
}

func TestAiderWantsItsHeading(t *testing.T) {
	got := decodeAll(t, strings.NewReader("# Notes\n#### x  \n"), Aider)
	if got.err == nil || !strings.Contains(got.err.Error(), "does not begin with") {
		t.Error(got.err)
	}
}

func FuzzAider(f *testing.F) {
	f.Add(aiderHistory)
	f.Add(aiderStart + "2026-01-31 15:04:05\n####  \n#### \xff  \n> Applied edit to x  ")
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []Format{Aider, Auto} {
			decodeAll(t, strings.NewReader(text), format)
		}
	})
}
