package picture

import (
	"bytes"
	"encoding/binary"
	"image"
	"net/http"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// rotateUpright rotates an image by its EXIF orientation. From 5 on, its rows become columns.
func rotateUpright(pixels image.Image, orientation int) image.Image {
	size := pixels.Bounds().Size()
	width, height := float64(size.X), float64(size.Y)
	transforms := map[int]f64.Aff3{
		2: {-1, 0, width, 0, 1, 0},
		3: {-1, 0, width, 0, -1, height},
		4: {1, 0, 0, 0, -1, height},
		5: {0, 1, 0, 1, 0, 0},
		6: {0, -1, height, 1, 0, 0},
		7: {0, -1, height, -1, 0, width},
		8: {0, 1, 0, -1, 0, width},
	}
	transform, found := transforms[orientation]
	if !found {
		return pixels
	}
	if transform[0] == 0 {
		size = image.Pt(size.Y, size.X)
	}
	rotated := image.NewRGBA(image.Rectangle{Max: size})
	draw.NearestNeighbor.Transform(rotated, transform, pixels, pixels.Bounds(), draw.Src, nil)
	return rotated
}

// orientation reads the EXIF orientation of a file, 1 to 8. It is 0 for a file without one.
func orientation(file []byte) int {
	const (
		tag       = 0x0112
		typeShort = 3
		header    = 8
		entryLen  = 12
	)
	data := exif(file)
	if len(data) < header {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if data[0] == 'I' {
		order = binary.LittleEndian
	}
	begin := uint64(order.Uint32(data[4:]))
	if begin+2 > uint64(len(data)) {
		return 0
	}
	entries := data[begin+2:]
	for range order.Uint16(data[begin:]) {
		if len(entries) < entryLen {
			break
		}
		if order.Uint16(entries) == tag && order.Uint16(entries[2:]) == typeShort {
			return int(order.Uint16(entries[8:]))
		}
		entries = entries[entryLen:]
	}
	return 0
}

// exif finds the EXIF data of a file, which begin with the byte order.
func exif(file []byte) []byte {
	const (
		jpegHead = 2
		pngHead  = 8
		pngTail  = 4
		webpHead = 12
	)
	switch http.DetectContentType(file) {
	case JPEG:
		return exifInJPEG(file[jpegHead:])
	case PNG:
		return chunk(file[pngHead:], "eXIf", pngTail, func(head []byte) (string, uint32) {
			return string(head[4:]), binary.BigEndian.Uint32(head)
		})
	}
	// A WebP: decode has refused all other types.
	data := chunk(file[webpHead:], "EXIF", 0, func(head []byte) (string, uint32) {
		length := binary.LittleEndian.Uint32(head[4:])
		return string(head[:4]), length + length%2
	})
	return bytes.TrimPrefix(data, exifPrefix) // Some programs write the prefix in a WebP too.
}

// exifPrefix comes before the EXIF data in a JPEG.
var exifPrefix = []byte("Exif\x00\x00")

// exifInJPEG finds the EXIF data in the segments before the picture.
func exifInJPEG(segments []byte) []byte {
	const (
		markerSOS  = 0xDA
		markerAPP1 = 0xE1
		head       = 4
	)
	for len(segments) > head && segments[0] == 0xFF && segments[1] != markerSOS {
		if segments[1] == 0xFF { // A fill byte.
			segments = segments[1:]
			continue
		}
		marker, end := segments[1], 2+int(binary.BigEndian.Uint16(segments[2:]))
		if end < head || end > len(segments) {
			return nil
		}
		if data, found := bytes.CutPrefix(segments[head:end], exifPrefix); found && marker == markerAPP1 {
			return data
		}
		segments = segments[end:]
	}
	return nil
}

// chunk returns the data of the chunk with the name. A chunk has a head of 8 bytes, which read parses, data of the length in the
// head, and at its end as many bytes as tail says.
func chunk(chunks []byte, name string, tail int, read func(head []byte) (name string, length uint32)) []byte {
	const head = 8
	for len(chunks) >= head {
		found, length := read(chunks[:head])
		if int64(length) > int64(len(chunks)-head-tail) {
			return nil
		}
		end := head + int(length)
		if found == name {
			return chunks[head:end]
		}
		chunks = chunks[end+tail:]
	}
	return nil
}
