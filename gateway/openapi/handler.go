package openapi

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/problem"
)

// The paths that the handler serves, below the base path of the API.
const (
	referencePath = "/docs"
	errorsPath    = "/docs/errors"
	jsonPath      = "/openapi.json"
	yamlPath      = "/openapi.yaml"
)

// Serves reports whether the handler of New serves the path, which is without the base path of the API.
func Serves(path string) bool {
	switch path {
	case referencePath, errorsPath, jsonPath, yamlPath:
		return true
	}
	return false
}

// New returns the handler of the reference of an API that callers reach at publicURL. It expects paths without the base path
// of the API.
func New(publicURL string) (http.Handler, error) {
	publicURL = strings.TrimSuffix(publicURL, "/")
	root, err := assemble(publicURL)
	if err != nil {
		return nil, err
	}
	files := map[string]file{}
	for path, source := range map[string]struct {
		contentType string
		make        func() ([]byte, error)
	}{
		referencePath: {"text/html; charset=utf-8", func() ([]byte, error) { return referencePage(root) }},
		errorsPath:    {"text/html; charset=utf-8", errorsPage},
		jsonPath:      {"application/json", func() ([]byte, error) { return toJSON(root) }},
		yamlPath:      {"application/yaml", func() ([]byte, error) { return toYAML(root) }},
	} {
		content, err := source.make()
		if err != nil {
			return nil, err
		}
		files[path] = newFile(source.contentType, content)
	}
	return &handler{files: files, errors: httperror.Writer{DocsURL: publicURL + referencePath}}, nil
}

// Document returns the OpenAPI document as YAML, as the handler of New serves it.
func Document(publicURL string) ([]byte, error) {
	root, err := assemble(strings.TrimSuffix(publicURL, "/"))
	if err != nil {
		return nil, err
	}
	return toYAML(root)
}

// file is a response made in advance.
type file struct {
	contentType string
	etag        string
	content     []byte
}

func newFile(contentType string, content []byte) file {
	sum := sha256.Sum256(content)
	return file{contentType: contentType, etag: `"` + hex.EncodeToString(sum[:]) + `"`, content: content}
}

type handler struct {
	files  map[string]file
	errors httperror.Writer
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := h.files[r.URL.Path]
	header := w.Header()
	switch {
	case !ok:
		h.errors.Write(r.Context(), w, problem.New(problem.NotFound, "There is no such path."))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		h.errors.Write(r.Context(), w, problem.New(problem.MethodNotAllowed, "The reference is read-only."))
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("ETag", f.etag)
	header.Set("Cache-Control", "no-cache") // Caches must revalidate, so that an update shows at once.
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// contentSecurityPolicy allows the style sheet in the pages and nothing else.
var contentSecurityPolicy = func() string {
	sum := sha256.Sum256([]byte(styleSheet))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}()
