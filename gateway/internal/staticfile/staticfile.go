// Package staticfile serves files that a program has made or embedded. They need no API key and cost little: each has an ETag,
// texts are compressed once, and only GET and HEAD are allowed.
package staticfile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"mime"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/partnergifting/platform/gateway/internal/httperror"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/problem"
)

// Cache-Control of files: with Revalidate, readers see updates immediately. A Versioned file has another path when it changes.
const (
	Revalidate = "no-cache"
	Versioned  = "public, max-age=31536000, immutable"
)

var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml", ".ico": "image/x-icon",
}

// TypeOf is the content type of a file by its name: plain text if its ending is another one.
func TypeOf(name string) string {
	return cmp.Or(contentTypes[path.Ext(name)], "text/plain; charset=utf-8")
}

// File is a response made in advance.
type File struct {
	contentType, cacheControl, etag string
	// compressed is nil for what would not become smaller. Otherwise plain is made when it is first read, because nearly all readers
	// take the compressed form.
	compressed []byte
	plain      func() []byte
	anyOrigin  bool
	fresh      func() (content []byte, policy string)
}

// New makes a File.
func New(contentType, cacheControl string, content []byte) File {
	etag := digest(content)
	if len(content) >= minCompressed && compressible(contentType) {
		return ofCompressed(contentType, cacheControl, etag, Compress(content))
	}
	return File{contentType: contentType, cacheControl: cacheControl, etag: etag, plain: func() []byte { return content }}
}

// FromGzip makes a File of compressed content.
func FromGzip(contentType, cacheControl string, compressed []byte) File {
	return ofCompressed(contentType, cacheControl, digest(compressed), compressed)
}

func ofCompressed(contentType, cacheControl, etag string, compressed []byte) File {
	return File{
		contentType: contentType, cacheControl: cacheControl, etag: etag, compressed: compressed,
		plain: sync.OnceValue(func() []byte { return decompress(compressed) }),
	}
}

// Fresh makes a File whose content and policy are made anew for each response, which nobody stores.
func Fresh(contentType string, content func() (content []byte, policy string)) File {
	return File{contentType: contentType, cacheControl: "no-store", fresh: content}
}

// ForAnyOrigin lets scripts of all sites read the file.
func (f File) ForAnyOrigin() File {
	f.anyOrigin = true
	return f
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Handler serves the files of its paths, always as a whole. Policy is the Content-Security-Policy of all but fresh ones.
type Handler struct {
	Files map[string]File
	// Missing is the page for all other paths; nil: they get a problem document.
	Missing *File
	Policy  string
	Errors  httperror.Writer
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f, ok := h.Files[r.URL.Path]
	header := w.Header()
	switch {
	case !ok && h.Missing != nil:
		f = *h.Missing
	case !ok:
		h.Errors.Write(r.Context(), w, problem.New(problem.NotFound, "There is no such path."))
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		h.Errors.Write(r.Context(), w, problem.New(problem.MethodNotAllowed, "This page is read-only."))
		return
	}
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", f.cacheControl)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("X-Frame-Options", "DENY")
	header.Set("Referrer-Policy", "no-referrer")
	if f.anyOrigin {
		header.Set("Access-Control-Allow-Origin", "*")
	}
	content, policy := f.choose(header, AcceptsGzip(r.Header))
	if policy == "" {
		policy = h.Policy
	}
	header.Set("Content-Security-Policy", policy)
	tag := header.Get("ETag")
	switch condition, _ := caller.ParseCondition(r.Header.Values("If-None-Match")); {
	case !ok:
		header.Del("ETag")
		write(w, r, http.StatusNotFound, content)
	case tag != "" && condition.HasWeakly(tag):
		header.Del("Content-Type")
		w.WriteHeader(http.StatusNotModified)
	default:
		write(w, r, http.StatusOK, content)
	}
}

func write(w http.ResponseWriter, r *http.Request, status int, content []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(content)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(content)
	}
}

// choose returns the form of the content that the reader accepts, and the policy of a fresh one. The forms have different ETags.
func (f File) choose(header http.Header, acceptsGzip bool) (content []byte, policy string) {
	if f.fresh != nil {
		return f.fresh()
	}
	if f.compressed != nil {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip {
			header.Set("Content-Encoding", gzipped)
			header.Set("ETag", `"`+f.etag+`-gzip"`)
			return f.compressed, ""
		}
	}
	header.Set("ETag", `"`+f.etag+`"`)
	return f.plain(), ""
}

const (
	gzipped = "gzip"
	// minCompressed is the length from which compression saves packets.
	minCompressed = 1024
)

func compressible(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType)
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+xml") {
		return true
	}
	return kind == "application/json" || kind == "application/yaml"
}

// writers are kept while a program makes its files: each takes most of a megabyte.
var writers = sync.Pool{New: func() any {
	w, _ := gzip.NewWriterLevel(nil, gzip.BestCompression) // The level is valid.
	return w
}}

// Compress compresses a text with gzip.
func Compress(content []byte) []byte {
	w := writers.Get().(*gzip.Writer)
	defer writers.Put(w)
	var b bytes.Buffer
	w.Reset(&b)
	_, _ = w.Write(content) // A buffer takes everything.
	_ = w.Close()
	return bytes.Clone(b.Bytes()) // Without the spare room of the buffer.
}

// decompress panics on content that is not gzip: it is embedded in the program, and tests read it.
func decompress(compressed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(compressed))
	if err != nil {
		panic(err)
	}
	content, err := io.ReadAll(r)
	if err != nil {
		panic(err)
	}
	return content
}

// AcceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3). The name of a coding counts before `*`.
func AcceptsGzip(header http.Header) bool {
	star := false
	for coding := range strings.SplitSeq(strings.Join(header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(coding, ";")
		weight := 1.0
		if _, q, found := strings.Cut(parameters, "="); found {
			weight, _ = strconv.ParseFloat(strings.TrimSpace(q), 64) // What is no weight accepts nothing.
		}
		switch strings.ToLower(strings.TrimSpace(name)) {
		case gzipped, "x-gzip":
			return weight > 0
		case "*":
			star = weight > 0
		}
	}
	return star
}
