// Package tinymodel makes language models of some hundred kilobytes, and runs a real Ollama server
// with them, for tests.
//
// Begin with Serve. The models consist of random numbers with a fixed seed and are made in
// milliseconds. Their texts make no sense, but the server treats them like any model: tokens,
// grammars, limits, vectors. Texts differ between versions of the server, so tests check only the
// form of an answer.
package tinymodel

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// words that are one token each. Each occurs once: a server that reads a token twice exits.
var words = strings.Fields(`the and for with that this when not use user test tests build fails failed because file files run
	always never go code error cache store commit branch command output before after prefer tabs spaces memory session`)

// Text returns a model that answers questions: two blocks of the architecture llama, 64 wide, with
// 8192 tokens of context. It is biased towards words and the ends of strings and lists, so that its
// output ends under any bounded schema.
func Text() []byte { return text(true) }

// RandomText is Text without the bias: its strings go on until the schema ends them.
func RandomText() []byte { return text(false) }

func text(leaning bool) []byte {
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
	for _, word := range words {
		add("▁"+word, normal, 1.5)
		add(word, normal, 0)
	}

	var g gguf
	g.set("general.architecture", "llama")
	g.set("general.name", "tiny")
	g.set("general.file_type", uint32(0))
	g.set("general.quantization_version", uint32(2))
	g.set("llama.context_length", uint32(8192))
	g.set("llama.embedding_length", uint32(width))
	g.set("llama.block_count", uint32(blocks))
	g.set("llama.feed_forward_length", uint32(inner))
	g.set("llama.attention.head_count", uint32(heads))
	g.set("llama.attention.head_count_kv", uint32(heads))
	g.set("llama.attention.layer_norm_rms_epsilon", float32(1e-5))
	g.set("llama.rope.dimension_count", uint32(width/heads))
	g.set("llama.rope.freq_base", float32(10000))
	g.set("llama.vocab_size", uint32(len(tokens)))
	g.set("tokenizer.ggml.model", "llama")
	g.set("tokenizer.ggml.pre", "default")
	g.set("tokenizer.ggml.tokens", tokens)
	g.set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	g.set("tokenizer.ggml.token_type", kinds)
	g.set("tokenizer.ggml.unknown_token_id", uint32(0))
	g.set("tokenizer.ggml.bos_token_id", uint32(1))
	g.set("tokenizer.ggml.eos_token_id", uint32(2))
	g.set("tokenizer.ggml.add_bos_token", true)
	g.set("tokenizer.ggml.add_eos_token", false)
	g.set("tokenizer.ggml.add_space_prefix", false)

	r := random{rand.New(rand.NewPCG(1, 2))}
	embeddings, output := r.normal(0.5, width*len(tokens)), r.normal(0.35, width*len(tokens))
	if leaning {
		// The first number of every token is the same, about 4.5 at the output, where it carries the
		// token's bias.
		for i, towards := range lean {
			embeddings[i*width] = 4
			output[i*width] = float32(towards / 4.5)
		}
	}
	g.tensor("token_embd.weight", embeddings, width, len(tokens))
	for n := range blocks {
		block := fmt.Sprintf("blk.%d.", n)
		g.tensor(block+"attn_norm.weight", ones(width), width)
		for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
			g.tensor(block+name+".weight", r.normal(0.05, width*width), width, width)
		}
		g.tensor(block+"ffn_norm.weight", ones(width), width)
		g.tensor(block+"ffn_gate.weight", r.normal(0.05, width*inner), width, inner)
		g.tensor(block+"ffn_up.weight", r.normal(0.05, width*inner), width, inner)
		g.tensor(block+"ffn_down.weight", r.normal(0.05, width*inner), inner, width)
	}
	g.tensor("output_norm.weight", ones(width), width)
	g.tensor("output.weight", output, width, len(tokens))
	return g.bytes()
}

// Vectors returns a model that makes vectors: one block of the architecture bert, 64 dimensions,
// 512 tokens of context. The block has hardly any effect. So a text's vector is the mean of the
// vectors of its two-letter pieces, and the cosine of two texts measures how many they share.
func Vectors() []byte {
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
	for _, word := range words {
		add(word)
	}
	kinds := make([]int32, len(tokens))
	for i := range kinds {
		kinds[i] = 1
		if i < 5 {
			kinds[i] = 3
		}
	}

	var g gguf
	g.set("general.architecture", "bert")
	g.set("general.name", "tiny-vectors")
	g.set("general.file_type", uint32(0))
	g.set("general.quantization_version", uint32(2))
	g.set("bert.context_length", uint32(context))
	g.set("bert.embedding_length", uint32(width))
	g.set("bert.block_count", uint32(1))
	g.set("bert.feed_forward_length", uint32(inner))
	g.set("bert.attention.head_count", uint32(heads))
	g.set("bert.attention.layer_norm_epsilon", float32(1e-12))
	g.set("bert.attention.causal", false)
	g.set("bert.pooling_type", uint32(1)) // mean; this key tells a server the purpose of the model
	g.set("tokenizer.ggml.model", "bert")
	g.set("tokenizer.ggml.token_type_count", uint32(2))
	g.set("tokenizer.ggml.tokens", tokens)
	g.set("tokenizer.ggml.scores", make([]float32, len(tokens)))
	g.set("tokenizer.ggml.token_type", kinds)
	g.set("tokenizer.ggml.padding_token_id", uint32(0))
	g.set("tokenizer.ggml.unknown_token_id", uint32(1))
	g.set("tokenizer.ggml.cls_token_id", uint32(2))
	g.set("tokenizer.ggml.bos_token_id", uint32(2))
	g.set("tokenizer.ggml.eos_token_id", uint32(3))
	g.set("tokenizer.ggml.seperator_token_id", uint32(3)) // written so
	g.set("tokenizer.ggml.mask_token_id", uint32(4))

	r := random{rand.New(rand.NewPCG(3, 4))}
	zeros := func(n int) []float32 { return make([]float32, n) }
	norm := func(name string) {
		g.tensor(name+".weight", ones(width), width)
		g.tensor(name+".bias", zeros(width), width)
	}
	linear := func(name string, from, to int) {
		g.tensor(name+".weight", r.normal(0.02, from*to), from, to)
		g.tensor(name+".bias", zeros(to), to)
	}
	g.tensor("token_embd.weight", r.normal(1, width*len(tokens)), width, len(tokens))
	g.tensor("token_types.weight", zeros(width*2), width, 2)
	g.tensor("position_embd.weight", r.normal(0.01, width*context), width, context)
	norm("token_embd_norm")
	for _, name := range []string{"attn_q", "attn_k", "attn_v", "attn_output"} {
		linear("blk.0."+name, width, width)
	}
	norm("blk.0.attn_output_norm")
	linear("blk.0.ffn_up", width, inner)
	linear("blk.0.ffn_down", inner, width)
	norm("blk.0.layer_output_norm")
	return g.bytes()
}

type random struct{ *rand.Rand }

// normal returns n numbers of a normal distribution around 0.
func (r random) normal(deviation float64, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64() * deviation)
	}
	return v
}

func ones(n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = 1
	}
	return v
}
