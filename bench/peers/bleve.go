package main

import (
	"os"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/cjk"
	_ "github.com/blevesearch/bleve/v2/analysis/lang/en"
	index "github.com/blevesearch/bleve_index_api"

	"github.com/reverie-memory/reverie/bench/recall/judge"
)

// batch is the number of memories indexed at once.
const batch = 1000

// bleveEngine is bleve's default index on disk (scorch) with one text field and a match query,
// which joins its words with OR. The analyser en drops stop words and stems (Porter); cjk makes
// pairs of Chinese and Japanese characters. model is index.TFIDFScoring, bleve's default, or
// index.BM25Scoring.
func bleveEngine(name, analyser, model string) judge.Engine {
	return judge.Engine{Name: name, Open: func(memories []judge.Memory) (judge.Store, error) {
		dir, err := os.MkdirTemp("", "peers-bleve-")
		if err != nil {
			return nil, err
		}
		s := &bleveStore{dir: dir}
		if err := s.fill(memories, analyser, model); err != nil {
			s.Close()
			return nil, err
		}
		return s, nil
	}}
}

type bleveStore struct {
	dir   string
	index bleve.Index
}

func (s *bleveStore) fill(memories []judge.Memory, analyser, model string) (err error) {
	field := bleve.NewTextFieldMapping()
	field.Analyzer = analyser
	field.Store, field.IncludeTermVectors, field.DocValues, field.IncludeInAll = false, false, false, false
	doc := bleve.NewDocumentStaticMapping()
	doc.AddFieldMappingsAt("text", field)
	m := bleve.NewIndexMapping()
	m.DefaultMapping = doc
	m.ScoringModel = model
	if s.index, err = bleve.New(s.dir+"/index", m); err != nil {
		return err
	}
	b := s.index.NewBatch()
	for i, m := range memories {
		if err := b.Index(m.ID, map[string]string{"text": whole(m)}); err != nil {
			return err
		}
		if b.Size() == batch || i == len(memories)-1 {
			if err := s.index.Batch(b); err != nil {
				return err
			}
			b = s.index.NewBatch()
		}
	}
	return nil
}

func (s *bleveStore) Search(query string, n int) (ids []string, err error) {
	match := bleve.NewMatchQuery(query)
	match.SetField("text")
	result, err := s.index.Search(bleve.NewSearchRequestOptions(match, n, 0, false))
	if err != nil {
		return nil, err
	}
	for _, hit := range result.Hits {
		ids = append(ids, hit.ID)
	}
	return ids, nil
}

func (s *bleveStore) Close() error {
	if s.index != nil {
		s.index.Close()
	}
	return os.RemoveAll(s.dir)
}

// bleves returns the compared configurations of bleve. The analyser for Chinese, Japanese and
// Korean is included only on request.
func bleves(cjk bool) []judge.Engine {
	all := []judge.Engine{
		bleveEngine("bleve en", "en", index.TFIDFScoring),
		bleveEngine("bleve en bm25", "en", index.BM25Scoring),
	}
	if cjk {
		all = append(all, bleveEngine("bleve cjk", "cjk", index.TFIDFScoring), bleveEngine("bleve cjk bm25", "cjk", index.BM25Scoring))
	}
	return all
}
