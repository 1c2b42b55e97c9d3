package tinymodel

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
)

// Create gives the server at the URL base a model with that name, made of a GGUF file. more adds to
// or replaces parts of the request; it may be nil. One thread computes the model, because more
// threads would only wait for one another.
func Create(ctx context.Context, base, name string, file []byte, more map[string]any) error {
	digest := fmt.Sprintf("sha256:%x", sha256.Sum256(file))
	// a server with the blob hangs up on an upload
	if call(ctx, http.MethodHead, base+"/api/blobs/"+digest, nil) != nil {
		if err := call(ctx, http.MethodPost, base+"/api/blobs/"+digest, file); err != nil {
			return fmt.Errorf("create model %s: %w", name, err)
		}
	}
	request := map[string]any{
		"model": name, "files": map[string]string{"model.gguf": digest}, "stream": false,
		"template":   "{{ if .System }}{{ .System }}\n{{ end }}{{ .Prompt }}\n",
		"parameters": map[string]any{"num_thread": 1},
	}
	maps.Copy(request, more)
	body, err := json.Marshal(request)
	if err != nil {
		return err
	}
	if err := call(ctx, http.MethodPost, base+"/api/create", body); err != nil {
		return fmt.Errorf("create model %s: %w", name, err)
	}
	return nil
}

func call(ctx context.Context, method, url string, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s", resp.Status, said)
	}
	return err
}
