// Command train makes the weights of package claim from the labelled text in corpus/, with the same
// bytes each time:
//
//	go run ./reflect/train
//
// It prints the scores on sentences of held-out voices. The figures describe our own text only.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/reverie-memory/reverie/reflect/claim"
)

func main() {
	log.SetFlags(0)
	dir := flag.String("corpus", "reflect/train/corpus", "folder of the labelled text")
	out := flag.String("o", "reflect/claim/weights.bin", "file to write")
	misses := flag.Int("misses", 0, "print so many of the worst mistakes")
	flag.Parse()
	messages, err := read(*dir)
	if err != nil {
		log.Fatal(err)
	}
	judged := claim.CrossValidate(messages, 6)
	m := claim.Train(messages)
	m.SetThresholds(judged)
	report(judged, *misses)
	data := m.Bytes()
	if err := os.WriteFile(*out, data, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: %d bytes, thresholds %s\n", *out, len(data), m)
}

// read reads all voices, in the order of their names.
func read(dir string) ([]claim.Message, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var all []claim.Message
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		voice := claim.Message{}
		for n := 1; lines.Scan(); n++ {
			var in struct {
				Voice, Lang, Text, Sort string
				Keep                    []struct {
					Span, Class string
				}
			}
			if err := json.Unmarshal(lines.Bytes(), &in); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", file, n, err)
			}
			if in.Voice != "" {
				voice.Voice, voice.Lang = in.Voice, in.Lang
				continue
			}
			m := voice
			m.Text = in.Text
			for _, k := range in.Keep {
				if !strings.Contains(in.Text, k.Span) {
					return nil, fmt.Errorf("%s:%d: %q does not occur in the message", file, n, k.Span)
				}
				kind, ok := claim.ParseKind(k.Class)
				if !ok {
					return nil, fmt.Errorf("%s:%d: no kind %q", file, n, k.Class)
				}
				m.Keep = append(m.Keep, claim.Label{Span: k.Span, Kind: kind})
			}
			all = append(all, m)
		}
		if err := lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	return all, nil
}

func report(judged []claim.Judged, misses int) {
	all := func(claim.Judged) bool { return true }
	kept, kind := 0, 0
	for _, j := range judged {
		if !j.Kept {
			continue
		}
		kept++
		if j.Got.Kind == j.Kind {
			kind++
		}
	}
	fmt.Printf("%d sentences of held-out voices, %d to keep; kind right %.2f\n", len(judged), kept, float64(kind)/float64(kept))
	for _, p := range []float64{0.97, 0.9, 0.8, 0.7, 0.6, 0.5} {
		at, recall := claim.Threshold(judged, p, all)
		marked, of := claim.Threshold(judged, p, claim.Judged.May)
		fmt.Printf("precision %.2f: recall %.3f (from %.3f); of those that say it lasts, %.3f (from %.3f)\n", p, recall, at, of, marked)
	}
	for _, lang := range []string{"en", "zh", "ja", "ko", "es", "de", "fr", "pt", "ru"} {
		of := func(j claim.Judged) bool { return j.Lang == lang }
		_, a := claim.Threshold(judged, 0.9, of)
		_, b := claim.Threshold(judged, 0.7, of)
		fmt.Printf("%s: recall %.2f at .9, %.2f at .7\n", lang, a, b)
	}
	for i, n := 0, 0; i < len(judged) && n < misses; i++ {
		if !judged[i].Kept {
			fmt.Printf("%.3f wrong  %s: %s\n", judged[i].Got.Keep, judged[i].Voice, judged[i].Text)
			n++
		}
	}
	for i, n := len(judged)-1, 0; i >= 0 && n < misses; i-- {
		if judged[i].Kept {
			fmt.Printf("%.3f missed %s: %s\n", judged[i].Got.Keep, judged[i].Voice, judged[i].Text)
			n++
		}
	}
}
