package catalogcopy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/replacefile"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

// ndjson is a copy in a file with one gift in JSON on each line, sorted by id. Beside it, a file .state says what it is a copy of.
// It is written last: after a crash between the two, the next sync reads some changes again.
type ndjson struct {
	path     string
	state    State
	products map[string]json.RawMessage
}

// NDJSON opens a copy in a file, which is made if it does not exist.
func NDJSON(path string) (Copy, error) {
	n := &ndjson{path: path, products: map[string]json.RawMessage{}}
	state, err := os.ReadFile(n.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return n, nil // Then the file, if there is one, is no copy, or not a whole one.
	}
	if err == nil {
		err = json.Unmarshal(state, &n.state)
	}
	if err == nil {
		err = n.read()
	}
	return n, err
}

func (n *ndjson) statePath() string { return n.path + ".state" }

func (n *ndjson) read() error {
	content, err := os.ReadFile(n.path)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, len(content)+1)
	for lines.Scan() {
		var product struct {
			ID string `json:"id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &product); err != nil {
			return fmt.Errorf("%s: %w", n.path, err)
		}
		n.products[product.ID] = bytes.Clone(lines.Bytes())
	}
	return lines.Err()
}

// State implements Copy.
func (n *ndjson) State() State { return n.state }

// Apply implements Copy.
func (n *ndjson) Apply(_ context.Context, entries []gifting.ProductEntry) error {
	for _, entry := range entries {
		if entry.Product == nil {
			delete(n.products, entry.ID())
			continue
		}
		record, err := json.Marshal(entry.Product)
		if err != nil {
			return err
		}
		n.products[entry.ID()] = record
	}
	return nil
}

// Commit implements Copy.
func (n *ndjson) Commit(_ context.Context, state State) error {
	var content bytes.Buffer
	for _, id := range slices.Sorted(maps.Keys(n.products)) {
		content.Write(append(n.products[id], '\n'))
	}
	stateLine, err := json.Marshal(state)
	if err != nil {
		return err
	}
	if err := replace(n.path, content.Bytes()); err != nil {
		return err
	}
	return replace(n.statePath(), append(stateLine, '\n'))
}

// replace replaces a file at once. Catalogs are no secret.
func replace(path string, content []byte) error { return replacefile.Write(path, content, 0o644) }

// Count implements Copy.
func (n *ndjson) Count(context.Context) (int, error) { return len(n.products), nil }

// Clear implements Copy.
func (n *ndjson) Clear(context.Context) error {
	clear(n.products)
	return nil
}

// Close implements Copy.
func (n *ndjson) Close() error { return nil }
