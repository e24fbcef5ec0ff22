package staticfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

const (
	gzipped = "gzip"
	// smallest is the length from which compression saves packets.
	smallest = 1024
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
