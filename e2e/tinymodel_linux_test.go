package e2e

import (
	"bytes"
	le "encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ollama/ollama/fs/ggml"
)

// tinyModel is a model of some hundred kilobytes of random numbers with a fixed seed, made in
// milliseconds. Its texts make no sense, but a server treats it like any model: tokens, grammars,
// limits, vectors. Texts differ between versions of the server, so tests check only the form of an
// answer.
type tinyModel struct {
	keys    ggml.KV
	tensors []*ggml.Tensor
	random  *rand.Rand
}

// tinyWords are one token each. Each occurs once: a server that reads a token twice exits.
var tinyWords = strings.Fields(`the and for with that this when not use user test tests build fails failed because file files run
	always never go code error cache store commit branch command output before after prefer tabs spaces memory session`)

func TestTinyWordsAreUnique(t *testing.T) {
	sorted := slices.Sorted(slices.Values(tinyWords))
	if len(slices.Compact(sorted)) != len(tinyWords) || slices.ContainsFunc(tinyWords, func(w string) bool { return len(w) < 2 }) {
		t.Error("a word is there twice, or is a letter: servers crash on it")
	}
}

// TestTinyModelsAreTheSameEachTime needs no server. A real one decides whether the files are right.
func TestTinyModelsAreTheSameEachTime(t *testing.T) {
	seen := map[string]bool{}
	for name, of := range map[string]func() *tinyModel{"text": leaningText, "random": randomText, "vectors": vectorModel} {
		file, again := of().bytes(t), of().bytes(t)
		if !bytes.Equal(file, again) || !bytes.HasPrefix(file, []byte("GGUF\x03\x00\x00\x00")) || len(file) > 1<<20 || seen[string(file)] {
			t.Errorf("%s: %d bytes that begin with %q", name, len(file), file[:8])
		}
		seen[string(file)] = true
	}
}

// bytes returns the model as a file of the format GGUF.
func (m *tinyModel) bytes(t testing.TB) []byte {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "gguf"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := ggml.WriteGGUF(f, m.keys, m.tensors); err != nil {
		t.Fatal(err)
	}
	return []byte(read(t, f.Name()))
}

// tensor adds a tensor of float32. dims begins with the fastest dimension: rows of E columns are E,
// rows.
func (m *tinyModel) tensor(name string, values []float32, dims ...uint64) {
	data, _ := le.Append(nil, le.LittleEndian, values)
	m.tensors = append(m.tensors, &ggml.Tensor{Name: name, Shape: dims, WriterTo: bytes.NewReader(data)})
}

// normal returns n numbers of a normal distribution around 0.
func (m *tinyModel) normal(deviation float64, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(m.random.NormFloat64() * deviation)
	}
	return v
}

// leaningText returns a model that answers questions: two blocks of the architecture llama, 64
// wide, with 8192 tokens of context. It is biased towards words and the ends of strings and lists,
// so that its output ends under any bounded schema.
func leaningText() *tinyModel { return textModel(true) }

// randomText lacks that bias: its strings go on until the schema ends them.
func randomText() *tinyModel { return textModel(false) }

func textModel(leaning bool) *tinyModel {
	const width, blocks, inner, heads = 64, 2, 128, 4
	const (
		normal  = 1
		unknown = 2
		control = 3
		raw     = 6 // a byte
	)
	var tokens []string
	var kinds []int32
	var lean []float64
	add := func(token string, kind int32, towards float64) {
		tokens, kinds, lean = append(tokens, token), append(kinds, kind), append(lean, towards)
	}
	add("<unk>", unknown, -30)
	add("<s>", control, -30)
	add("</s>", control, 3)
	for b := range 256 {
		add(fmt.Sprintf("<0x%02X>", b), raw, -30)
	}
	add("▁", normal, 0)
	for c := '!'; c <= '~'; c++ {
		towards := 0.0
		switch {
		case c == '\\':
			towards = -30
		case c == '"':
			towards = 3.5
		case c == '}' || c == ']':
			towards = 3
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			towards = -2
		}
		add(string(c), normal, towards)
	}
	add("\n", normal, 0)
	for _, word := range tinyWords {
		add("▁"+word, normal, 1.5)
		add(word, normal, 0)
	}

	m := &tinyModel{random: rand.New(rand.NewPCG(1, 2)), keys: ggml.KV{
		"general.architecture": "llama", "general.name": "tiny", "general.file_type": uint32(0), "general.quantization_version": uint32(2),
		"llama.context_length": uint32(8192), "llama.embedding_length": uint32(width), "llama.block_count": uint32(blocks),
		"llama.feed_forward_length": uint32(inner), "llama.attention.head_count": uint32(heads), "llama.attention.head_count_kv": uint32(heads),
		"llama.attention.layer_norm_rms_epsilon": float32(1e-5), "llama.rope.dimension_count": uint32(width / heads),
		"llama.rope.freq_base": float32(10000), "llama.vocab_size": uint32(len(tokens)),
		"tokenizer.ggml.model": "llama", "tokenizer.ggml.pre": "default",
		"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.scores": make([]float32, len(tokens)), "tokenizer.ggml.token_type": kinds,
		"tokenizer.ggml.unknown_token_id": uint32(0), "tokenizer.ggml.bos_token_id": uint32(1), "tokenizer.ggml.eos_token_id": uint32(2),
		"tokenizer.ggml.add_bos_token": true, "tokenizer.ggml.add_eos_token": false, "tokenizer.ggml.add_space_prefix": false,
	}}
	embeddings, output := m.normal(0.5, width*len(tokens)), m.normal(0.35, width*len(tokens))
	if leaning {
		// The first number of every token is the same, about 4.5 at the output, where it carries the
		// token's bias.
		for i, towards := range lean {
			embeddings[i*width] = 4
			output[i*width] = float32(towards / 4.5)
		}
	}
	ones := slices.Repeat([]float32{1}, width)
	m.tensor("token_embd.weight", embeddings, width, uint64(len(tokens)))
	for n := range blocks {
		block := fmt.Sprintf("blk.%d.", n)
		m.tensor(block+"attn_norm.weight", ones, width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			m.tensor(block+name+".weight", m.normal(0.05, width*width), width, width)
		}
		m.tensor(block+"ffn_norm.weight", ones, width)
		m.tensor(block+"ffn_gate.weight", m.normal(0.05, width*inner), width, inner)
		m.tensor(block+"ffn_up.weight", m.normal(0.05, width*inner), width, inner)
		m.tensor(block+"ffn_down.weight", m.normal(0.05, width*inner), inner, width)
	}
	m.tensor("output_norm.weight", ones, width)
	m.tensor("output.weight", output, width, uint64(len(tokens)))
	return m
}

// vectorModel returns a model that makes vectors: one block of the architecture bert, 64
// dimensions, 512 tokens of context. The block has hardly any effect. So a text's vector is the
// mean of the vectors of its two-letter pieces, and the cosine of two texts measures how many they
// share.
func vectorModel() *tinyModel {
	const width, inner, heads, context = 64, 128, 4, 512
	tokens := []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}
	known := map[string]bool{}
	add := func(piece string) {
		if !known[piece] {
			known[piece] = true
			tokens = append(tokens, "▁"+piece, piece)
		}
	}
	for c := '!'; c <= '~'; c++ {
		if c < 'A' || c > 'Z' {
			add(string(c))
		}
	}
	for a := 'a'; a <= 'z'; a++ {
		for b := 'a'; b <= 'z'; b++ {
			add(string([]rune{a, b}))
		}
	}
	for _, word := range tinyWords {
		add(word)
	}
	kinds := slices.Concat(slices.Repeat([]int32{3}, 5), slices.Repeat([]int32{1}, len(tokens)-5))

	m := &tinyModel{random: rand.New(rand.NewPCG(3, 4)), keys: ggml.KV{
		"general.architecture": "bert", "general.name": "tiny-vectors", "general.file_type": uint32(0), "general.quantization_version": uint32(2),
		"bert.context_length": uint32(context), "bert.embedding_length": uint32(width), "bert.block_count": uint32(1),
		"bert.feed_forward_length": uint32(inner), "bert.attention.head_count": uint32(heads),
		"bert.attention.layer_norm_epsilon": float32(1e-12), "bert.attention.causal": false,
		"bert.pooling_type":    uint32(1), // mean; this key tells a server the purpose of the model
		"tokenizer.ggml.model": "bert", "tokenizer.ggml.token_type_count": uint32(2),
		"tokenizer.ggml.tokens": tokens, "tokenizer.ggml.scores": make([]float32, len(tokens)), "tokenizer.ggml.token_type": kinds,
		"tokenizer.ggml.padding_token_id": uint32(0), "tokenizer.ggml.unknown_token_id": uint32(1), "tokenizer.ggml.cls_token_id": uint32(2),
		"tokenizer.ggml.bos_token_id": uint32(2), "tokenizer.ggml.eos_token_id": uint32(3), "tokenizer.ggml.mask_token_id": uint32(4),
		"tokenizer.ggml.seperator_token_id": uint32(3), // written so
	}}
	zeros := func(n int) []float32 { return make([]float32, n) }
	norm := func(name string) {
		m.tensor(name+".weight", slices.Repeat([]float32{1}, width), width)
		m.tensor(name+".bias", zeros(width), width)
	}
	linear := func(name string, from, to uint64) {
		m.tensor(name+".weight", m.normal(0.02, int(from*to)), from, to)
		m.tensor(name+".bias", zeros(int(to)), to)
	}
	m.tensor("token_embd.weight", m.normal(1, width*len(tokens)), width, uint64(len(tokens)))
	m.tensor("token_types.weight", zeros(width*2), width, 2)
	m.tensor("position_embd.weight", m.normal(0.01, width*context), width, context)
	norm("token_embd_norm")
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		linear("blk.0."+name, width, width)
	}
	norm("blk.0.attn_output_norm")
	linear("blk.0.ffn_up", width, inner)
	linear("blk.0.ffn_down", inner, width)
	norm("blk.0.layer_output_norm")
	return m
}
