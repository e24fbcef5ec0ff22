package picture

import (
	"encoding/binary"
	"image"
)

const (
	riffHead      = 12
	riffChunkHead = 8
	// The flags of VP8X, and where its data and those of a frame begin to tell sizes.
	webpAnimation = 1 << 1
	webpXMP       = 1 << 2
	webpEXIF      = 1 << 3
	webpAlpha     = 1 << 4
	webpICC       = 1 << 5
	vp8xLen       = 10
	frameHead     = 16
)

// readWebP copies the chunks that make the picture. Of an animation the first frame is put into a
// file of its own, which can be decoded.
func (s *source) readWebP(content []byte) error {
	if len(content) < riffHead {
		return ErrDamaged
	}
	length := uint64(binary.LittleEndian.Uint32(content[4:])) + riffChunkHead
	if length < riffHead || length > uint64(len(content)) {
		return ErrDamaged
	}
	clean := webp{}
	for rest := content[riffHead:length]; len(rest) > 0; {
		name, data, next, ok := nextRIFF(rest)
		if !ok {
			return ErrDamaged
		}
		rest = next
		if err := s.takeWebP(&clean, name, data); err != nil {
			return err
		}
	}
	s.clean = clean.file()
	return nil
}

func (s *source) takeWebP(clean *webp, name string, data []byte) error {
	switch name {
	case "EXIF":
		s.orientation = exifOrientation(trimExifName(data))
	case "VP8X":
		if len(data) != vp8xLen {
			return ErrDamaged
		}
		clean.flags = data[0] &^ (webpXMP | webpEXIF)
		s.animated = data[0]&webpAnimation != 0
		clean.add(name, data)
	case "ANMF":
		return s.takeFrame(clean, data)
	case "ALPH", "VP8 ", "VP8L", "ICCP", "ANIM":
		clean.add(name, data)
	}
	return nil
}

// takeFrame copies a frame of an animation.
func (s *source) takeFrame(clean *webp, data []byte) error {
	if len(data) < frameHead {
		return ErrDamaged
	}
	frame := append([]byte(nil), data[:frameHead]...)
	still := webp{}
	still.add("VP8X", append(make([]byte, 4), data[6:12]...)) // Its size stands in the frame.
	for rest := data[frameHead:]; len(rest) > 0; {
		name, part, next, ok := nextRIFF(rest)
		if !ok {
			return ErrDamaged
		}
		rest = next
		switch name {
		case "ALPH", "VP8 ", "VP8L":
			frame = appendRIFF(frame, name, part)
			still.add(name, part)
		}
	}
	clean.add("ANMF", frame)
	s.animated = true
	if s.first == nil {
		s.position = image.Pt(2*uint24(data), 2*uint24(data[3:]))
		s.first = still.file()
	}
	return nil
}

// webp is a file under construction.
type webp struct {
	body []byte
	// flags of the VP8X chunk, which stands at the beginning of body if extended.
	flags    byte
	extended bool
	alpha    bool
	lossless bool
}

func (w *webp) add(name string, data []byte) {
	switch name {
	case "VP8X":
		w.extended = w.extended || len(w.body) == 0
	case "ALPH":
		w.alpha = true
	case "VP8L":
		w.lossless = true
	}
	w.body = appendRIFF(w.body, name, data)
}

func (w *webp) file() []byte {
	if w.extended {
		w.body[riffChunkHead] = w.shownFlags()
	}
	file := append([]byte("RIFF"), 0, 0, 0, 0)
	file = append(append(file, "WEBP"...), w.body...)
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-riffChunkHead)) //nolint:gosec // No longer than the upload.
	return file
}

// shownFlags announces transparency only where there is some to be read.
func (w *webp) shownFlags() byte {
	if w.flags&webpAnimation != 0 || w.lossless {
		return w.flags
	}
	if w.alpha {
		return w.flags | webpAlpha
	}
	return w.flags &^ webpAlpha
}

func nextRIFF(rest []byte) (name string, data, next []byte, ok bool) {
	if len(rest) < riffChunkHead {
		return "", nil, nil, false
	}
	length := int64(binary.LittleEndian.Uint32(rest[4:]))
	if length > int64(len(rest)-riffChunkHead) {
		return "", nil, nil, false
	}
	end := riffChunkHead + int(length)
	padded := min(end+end%2, len(rest))
	return string(rest[:4]), rest[riffChunkHead:end], rest[padded:], true
}

func appendRIFF(dst []byte, name string, data []byte) []byte {
	dst = append(dst, name...)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(data))) //nolint:gosec // No longer than the upload.
	dst = append(dst, data...)
	if len(data)%2 == 1 {
		dst = append(dst, 0)
	}
	return dst
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// trimExifName takes off a name that some programs write before the data, as in a JPEG.
func trimExifName(data []byte) []byte {
	if len(data) > len(exifName) && string(data[:len(exifName)]) == string(exifName) {
		return data[len(exifName):]
	}
	return data
}
