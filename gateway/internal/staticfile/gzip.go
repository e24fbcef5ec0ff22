package staticfile

import (
	"bytes"
	"compress/gzip"
	"io"
	"mime"
	"strconv"
	"strings"
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

func compress(content []byte) []byte {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // The level is valid, and a buffer takes everything.
	_, _ = w.Write(content)
	_ = w.Close()
	return b.Bytes()
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

// acceptsGzip reads Accept-Encoding (RFC 9110, section 12.5.3). The name of a coding counts before `*`.
func acceptsGzip(accepted string) bool {
	star := false
	for coding := range strings.SplitSeq(accepted, ",") {
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
