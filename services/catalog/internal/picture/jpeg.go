package picture

import (
	"bytes"
	"encoding/binary"
)

// The markers of a JPEG file that matter here.
const (
	markerSOI   = 0xD8
	markerEOI   = 0xD9
	markerSOS   = 0xDA
	markerTEM   = 0x01
	markerRST0  = 0xD0
	markerRST7  = 0xD7
	markerAPP0  = 0xE0
	markerAPP1  = 0xE1
	markerAPP2  = 0xE2
	markerAPP14 = 0xEE
	markerAPP15 = 0xEF
	markerCOM   = 0xFE
)

var (
	jfifName  = []byte("JFIF\x00")
	exifName  = []byte("Exif\x00\x00")
	iccName   = []byte("ICC_PROFILE\x00")
	adobeName = []byte("Adobe")
)

// jfifHead is a JFIF segment up to its thumbnail, of which the last two bytes are width and height.
const jfifHead = 14

// readJPEG copies the segments a decoder needs and the colour profile, up to the end of the image.
func (s *source) readJPEG(content []byte) error {
	s.clean = append(make([]byte, 0, len(content)), 0xFF, markerSOI)
	rest := content[2:]
	for {
		marker, body, next, ok := nextSegment(rest)
		if !ok {
			return ErrDamaged
		}
		rest = next
		switch {
		case marker == markerEOI:
			s.clean = append(s.clean, 0xFF, markerEOI)
			return nil
		case marker == markerAPP1 && bytes.HasPrefix(body, exifName):
			s.orientation = exifOrientation(body[len(exifName):])
		default:
			s.clean = appendSegment(s.clean, marker, neededOf(marker, body))
		}
		if marker == markerSOS {
			scan := scanLength(rest)
			s.clean = append(s.clean, rest[:scan]...)
			rest = rest[scan:]
		}
	}
}

// nextSegment reads the marker at the beginning of rest, which fill bytes may precede, and the
// segment it opens.
func nextSegment(rest []byte) (marker byte, body, next []byte, ok bool) {
	if len(rest) < 2 || rest[0] != 0xFF {
		return 0, nil, nil, false
	}
	for len(rest) >= 2 && rest[1] == 0xFF {
		rest = rest[1:]
	}
	if len(rest) < 2 {
		return 0, nil, nil, false
	}
	marker, rest = rest[1], rest[2:]
	if standsAlone(marker) {
		return marker, nil, rest, true
	}
	if len(rest) < 2 {
		return 0, nil, nil, false
	}
	length := int(binary.BigEndian.Uint16(rest))
	if length < 2 || length > len(rest) {
		return 0, nil, nil, false
	}
	return marker, rest[2:length], rest[length:], true
}

func standsAlone(marker byte) bool {
	return marker == markerTEM || marker >= markerRST0 && marker <= markerEOI
}

// neededOf gives what of a segment a decoder needs; nil: nothing.
func neededOf(marker byte, body []byte) []byte {
	switch {
	case marker == markerAPP0 && bytes.HasPrefix(body, jfifName) && len(body) >= jfifHead:
		return append(bytes.Clone(body[:jfifHead-2]), 0, 0)
	case marker == markerAPP2 && bytes.HasPrefix(body, iccName),
		marker == markerAPP14 && bytes.HasPrefix(body, adobeName):
		return body
	case marker >= markerAPP0 && marker <= markerAPP15, marker == markerCOM, standsAlone(marker):
		return nil
	}
	return body
}

func appendSegment(dst []byte, marker byte, body []byte) []byte {
	if body == nil {
		return dst
	}
	dst = append(dst, 0xFF, marker)
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(body)+2)) //nolint:gosec // It came from such a length, or is cut to fit one.
	return append(dst, body...)
}

// scanLength is where the next marker stands that ends the entropy-coded data of a scan.
func scanLength(data []byte) int {
	for i := 0; ; i++ {
		found := bytes.IndexByte(data[i:], 0xFF)
		if found < 0 || i+found+1 >= len(data) {
			return len(data)
		}
		i += found
		if next := data[i+1]; next != 0 && next != 0xFF && (next < markerRST0 || next > markerRST7) {
			return i
		}
	}
}
