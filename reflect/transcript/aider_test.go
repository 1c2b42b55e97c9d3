package transcript

import (
	"strings"
	"testing"
	"time"
)

// aiderHistory imitates Aider's format: its own lines and a person's end with two spaces.
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

// A file without a heading, or an answer without an end, takes at most twice the memory of an
// event.
func TestAiderHoldsPassagesInBounds(t *testing.T) {
	line := strings.Repeat("x", 1023)
	var p passage
	p.add("the beginning")
	most := 0
	for range 4096 {
		p.add(line)
		size := 0
		for _, l := range p.lines {
			size += len(l) + 1
		}
		most = max(most, size)
	}
	p.add("the end")
	text := p.take()
	if most > maxPassage+len(line)+1 || !strings.HasPrefix(text, "the beginning\n") || !strings.HasSuffix(text, "\nthe end") || strings.Count(text, "bytes left out") != 1 {
		t.Errorf("%d bytes held; %d begin %.20q, with %d gaps", most, len(text), text, strings.Count(text, "bytes left out"))
	}
	if again := p.take(); again != "" {
		t.Errorf("taken twice: %.20q", again)
	}

	got := decodeText(t, Auto, "# aider chat started at 2026-01-31 15:04:05\n\n#### Go.  \n\nfirst\n"+strings.Repeat(line+"\n", 512)+"last\n")
	said := got.sessions[0].brief()
	if answer := said[len(said)-1]; !strings.HasPrefix(answer, "assistant: first⏎") || !strings.Contains(answer, "⏎last") || len(answer) > 2*MaxText {
		t.Errorf("%d bytes: %.40q … %q", len(answer), answer, answer[max(0, len(answer)-40):])
	}
}
