package picture_test

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// gradient is an image whose corners have different colours.
func gradient(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			img.SetNRGBA(x, y, color.NRGBA{R: uint8(255 * x / max(1, width-1)), G: uint8(255 * y / max(1, height-1)), B: 90, A: 255})
		}
	}
	return img
}

func pngOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, img))
	return b.Bytes()
}

func jpegOf(t *testing.T, img image.Image) []byte {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, img, nil))
	return b.Bytes()
}

// pngWith inserts chunks, given as pairs of name and data, after the header.
func pngWith(file []byte, pairs ...string) []byte {
	const head = 33
	out := bytes.Clone(file[:head])
	for pair := range slices.Chunk(pairs, 2) {
		chunk := strings.Join(pair, "")
		out = binary.BigEndian.AppendUint32(out, uint32(len(chunk)-len("IHDR")))
		out = append(out, chunk...)
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(chunk)))
	}
	return append(out, file[head:]...)
}

// jpegWith inserts segments at the beginning.
func jpegWith(file []byte, segments ...[]byte) []byte {
	out := bytes.Clone(file[:2])
	for _, s := range segments {
		out = append(out, 0xFF, s[0])
		out = binary.BigEndian.AppendUint16(out, uint16(len(s)+1))
		out = append(out, s[1:]...)
	}
	return append(out, file[2:]...)
}

func segment(marker byte, parts ...string) []byte {
	out := []byte{marker}
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

// exif has an orientation and a text that must be removed.
func exif(orientation int, order binary.AppendByteOrder) string {
	out := []byte("MM\x00*")
	if order == binary.AppendByteOrder(binary.LittleEndian) {
		out = []byte("II*\x00")
	}
	out = order.AppendUint32(out, 8)
	out = order.AppendUint16(out, 2)
	for _, entry := range [][2]int{{0x010F, 0}, {0x0112, orientation}} { // Maker, orientation.
		out = order.AppendUint16(out, uint16(entry[0]))
		out = order.AppendUint16(out, 3)
		out = order.AppendUint32(out, 1)
		out = order.AppendUint16(out, uint16(entry[1]))
		out = order.AppendUint16(out, 0)
	}
	return string(out) + "GPS 59.3293 N 18.0686 E"
}

// webpOf is a WebP of chunks, given as pairs of name and data.
func webpOf(pairs ...string) []byte {
	body := "WEBP"
	for pair := range slices.Chunk(pairs, 2) {
		body += string(riff(pair[0], strings.Join(pair[1:], "")))
	}
	return riff("RIFF", body)
}

func riff(name, data string) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(name), uint32(len(data)))
	out = append(out, data...)
	return append(out, make([]byte, len(data)%2)...)
}

// vp8l is a lossless image of one colour. Each of its five codes has one symbol, so its pixels take no space.
func vp8l(width, height int, c color.NRGBA) string {
	w := bitWriter{}
	w.writeBits(0x2F, 8)
	w.writeBits(uint64(width-1), 14)
	w.writeBits(uint64(height-1), 14)
	w.writeBits(1, 1) // Alpha is used.
	w.writeBits(0, 3+1+1+1)
	for _, symbol := range []uint8{c.G, c.R, c.B, c.A, 0} {
		w.writeBits(1|0<<1|1<<2, 3)
		w.writeBits(uint64(symbol), 8)
	}
	w.writeBits(0, 16)
	return string(w.out)
}

type bitWriter struct {
	out []byte
	n   int
}

func (b *bitWriter) writeBits(value uint64, count int) {
	for i := range count {
		if b.n%8 == 0 {
			b.out = append(b.out, 0)
		}
		b.out[len(b.out)-1] |= byte(value>>i&1) << (b.n % 8)
		b.n++
	}
}

func vp8x(flags byte, width, height int) string {
	return string([]byte{flags, 0, 0, 0}) + string(le24(width-1)) + string(le24(height-1))
}

func frame(width, height int, c color.NRGBA) string {
	head := append(append(make([]byte, 6), le24(width-1)...), le24(height-1)...)
	return string(append(head, 100, 0, 0, 0)) + string(riff("VP8L", vp8l(width, height, c)))
}

func le24(v int) []byte { return []byte{byte(v), byte(v >> 8), byte(v >> 16)} }
