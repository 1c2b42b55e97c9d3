package main

import (
	"database/sql"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// ftsEngine is SQLite's FTS5 in memory with one column and its own bm25. query makes the MATCH
// expression; "" finds nothing.
func ftsEngine(name, tokenizer string, query func(text string) string) judge.Engine {
	return judge.Engine{Name: name, Open: func(memories []judge.Memory) (judge.Store, error) {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			return nil, err
		}
		db.SetMaxOpenConns(1) // each connection has its own memory
		s := &ftsStore{db: db, query: query}
		if err := s.fill(memories, tokenizer); err != nil {
			db.Close()
			return nil, err
		}
		return s, nil
	}}
}

type ftsStore struct {
	db    *sql.DB
	query func(string) string
}

func (s *ftsStore) fill(memories []judge.Memory, tokenizer string) error {
	if _, err := s.db.Exec(`CREATE VIRTUAL TABLE memories USING fts5(id UNINDEXED, text, tokenize = '` + tokenizer + `')`); err != nil {
		return err
	}
	tx, err := s.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, m := range memories {
		if _, err := tx.Exec(`INSERT INTO memories VALUES (?, ?)`, m.ID, whole(m)); err != nil {
			return err
		}
	}
	return tx.Commit()
}

func (s *ftsStore) Search(text string, n int) (ids []string, err error) {
	match := s.query(text)
	if match == "" {
		return nil, nil
	}
	rows, err := s.db.Query(`SELECT id FROM memories WHERE memories MATCH ? ORDER BY rank LIMIT ?`, match, n)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

func (s *ftsStore) Close() error { return s.db.Close() }

// anyWord matches any of the words of a text, without stop words.
func anyWord(text string) string { return anyOf(sayingWords(text)) }

// anyTrigram matches any three neighbouring characters of a word of the text.
func anyTrigram(text string) string {
	var grams []string
	for _, word := range sayingWords(text) {
		runes := []rune(word)
		for i := range max(0, len(runes)-2) {
			grams = append(grams, string(runes[i:i+3]))
		}
	}
	return anyOf(grams)
}

// everyWord quotes the words between spaces, and FTS5 requires all of them. Tools do this to make
// an expression of a user's text that cannot be a syntax error.
func everyWord(text string) string {
	var out []string
	for _, word := range strings.Fields(text) {
		out = append(out, quoted(word))
	}
	return strings.Join(out, " ")
}

func anyOf(words []string) string {
	var out []string
	for _, word := range words {
		out = append(out, quoted(word))
	}
	return strings.Join(out, " OR ")
}

func quoted(word string) string { return `"` + strings.ReplaceAll(word, `"`, `""`) + `"` }

// ftsEngines returns the compared configurations of FTS5.
func ftsEngines() []judge.Engine {
	return []judge.Engine{
		ftsEngine("FTS5 unicode61", "unicode61", anyWord),
		ftsEngine("FTS5 porter", "porter unicode61", anyWord),
		ftsEngine("FTS5 trigram", "trigram", anyTrigram),
		ftsEngine("FTS5 every word", "unicode61", everyWord),
	}
}
