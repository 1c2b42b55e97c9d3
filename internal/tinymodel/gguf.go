package tinymodel

import (
	"encoding/binary"
	"math"
	"slices"
)

// gguf collects a file of the format GGUF, version 3: a header, keys with values, headers of
// tensors, the tensors' data. All is little-endian.
// https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
type gguf struct {
	keys, tensors int
	kv, headers   []byte
	data          []byte
}

const alignment = 32 // of each tensor's data, in bytes

// types of values
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9
)

func appendString(b []byte, s string) []byte {
	return append(binary.LittleEndian.AppendUint64(b, uint64(len(s))), s...)
}

// set sets a key to a uint32, int32, float32, bool or string, or to a slice of int32, float32 or
// string.
func (g *gguf) set(key string, value any) {
	g.keys++
	g.kv = appendString(g.kv, key)
	le := binary.LittleEndian
	head := func(kind uint32) { g.kv = le.AppendUint32(g.kv, kind) }
	array := func(kind uint32, n int) {
		head(typeArray)
		head(kind)
		g.kv = le.AppendUint64(g.kv, uint64(n))
	}
	switch v := value.(type) {
	case uint32:
		head(typeUint32)
		g.kv = le.AppendUint32(g.kv, v)
	case float32:
		head(typeFloat32)
		g.kv = le.AppendUint32(g.kv, math.Float32bits(v))
	case bool:
		head(typeBool)
		g.kv = append(g.kv, map[bool]byte{true: 1}[v])
	case string:
		head(typeString)
		g.kv = appendString(g.kv, v)
	case []int32:
		array(typeInt32, len(v))
		for _, n := range v {
			g.kv = le.AppendUint32(g.kv, uint32(n))
		}
	case []float32:
		array(typeFloat32, len(v))
		for _, x := range v {
			g.kv = le.AppendUint32(g.kv, math.Float32bits(x))
		}
	case []string:
		array(typeString, len(v))
		for _, s := range v {
			g.kv = appendString(g.kv, s)
		}
	default:
		panic("tinymodel: no such type")
	}
}

// tensor adds a tensor of float32. dims begins with the fastest dimension: rows of E columns are E,
// rows.
func (g *gguf) tensor(name string, values []float32, dims ...int) {
	size := 1
	le := binary.LittleEndian
	g.tensors++
	g.headers = le.AppendUint32(appendString(g.headers, name), uint32(len(dims)))
	for _, n := range dims {
		g.headers = le.AppendUint64(g.headers, uint64(n))
		size *= n
	}
	if size != len(values) {
		panic("tinymodel: " + name + " has another size")
	}
	g.headers = le.AppendUint32(g.headers, 0) // float32
	g.headers = le.AppendUint64(g.headers, uint64(len(g.data)))
	for _, x := range values {
		g.data = le.AppendUint32(g.data, math.Float32bits(x))
	}
	g.data = pad(g.data)
}

func (g *gguf) bytes() []byte {
	b := binary.LittleEndian.AppendUint32([]byte("GGUF"), 3)
	b = binary.LittleEndian.AppendUint64(b, uint64(g.tensors))
	b = binary.LittleEndian.AppendUint64(b, uint64(g.keys))
	return append(pad(slices.Concat(b, g.kv, g.headers)), g.data...)
}

func pad(b []byte) []byte {
	return append(b, make([]byte, -len(b)&(alignment-1))...)
}
