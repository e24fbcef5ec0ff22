package picture

import (
	"encoding/binary"
	"hash/crc32"
)

const (
	pngSignature = "\x89PNG\r\n\x1a\n"
	// A chunk is its length, its name, its data and a checksum.
	pngChunkHead = 8
	pngChunkTail = 4
)

// pngNeeded are the chunks that make the picture: the critical ones, transparency, colour, size and
// animation. All others are texts, times, EXIF and private data.
var pngNeeded = map[string]bool{
	"IHDR": true, "PLTE": true, "IDAT": true, "IEND": true, "tRNS": true,
	"cHRM": true, "gAMA": true, "iCCP": true, "sBIT": true, "sRGB": true, "cICP": true, "mDCV": true, "cLLI": true,
	"bKGD": true, "pHYs": true, "acTL": true, "fcTL": true, "fdAT": true,
}

// readPNG copies the chunks that make the picture, up to the end of the image.
func (s *source) readPNG(content []byte) error {
	s.clean = append(make([]byte, 0, len(content)), pngSignature...)
	for rest := content[len(pngSignature):]; ; {
		name, data, next, ok := nextChunk(rest)
		if !ok {
			return ErrDamaged
		}
		switch name {
		case "eXIf":
			s.orientation = exifOrientation(data)
		case "acTL":
			s.animated = true
		}
		if pngNeeded[name] {
			s.clean = append(s.clean, rest[:len(rest)-len(next)]...)
		}
		if name == "IEND" {
			return nil
		}
		rest = next
	}
}

// nextChunk reads the chunk rest begins with.
func nextChunk(rest []byte) (name string, data, next []byte, ok bool) {
	if len(rest) < pngChunkHead+pngChunkTail {
		return "", nil, nil, false
	}
	length := int64(binary.BigEndian.Uint32(rest))
	if length > int64(len(rest)-pngChunkHead-pngChunkTail) {
		return "", nil, nil, false
	}
	end := pngChunkHead + int(length)
	return string(rest[4:pngChunkHead]), rest[pngChunkHead:end], rest[end+pngChunkTail:], true
}

func appendChunk(dst []byte, name string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(data))) //nolint:gosec // A profile, of a few megabytes at most.
	begin := len(dst)
	dst = append(append(dst, name...), data...)
	return binary.BigEndian.AppendUint32(dst, crc32.ChecksumIEEE(dst[begin:]))
}
