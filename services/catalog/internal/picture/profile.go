package picture

import (
	"bytes"
	"compress/zlib"
	"io"
)

const (
	// maxProfile is well above the profiles of cameras and displays.
	maxProfile = 1 << 20
	// The space of the colours a profile describes stands in its header.
	profileSpaceAt  = 16
	profileSpaceEnd = 20
	// iccSegment is what one JPEG segment holds of a profile.
	iccSegment = 65519
	iccHead    = 14
)

// profileOf gives the colour profile of an image for pictures made from it; they are RGB, so any
// other profile would be wrong for them.
func profileOf(f File) []byte {
	var profile []byte
	switch f.ContentType {
	case JPEG:
		profile = jpegProfile(f.Content)
	case PNG:
		profile = pngProfile(f.Content)
	case WebP:
		profile = webpProfile(f.Content)
	}
	if len(profile) > maxProfile || len(profile) < profileSpaceEnd ||
		string(profile[profileSpaceAt:profileSpaceEnd]) != "RGB " {
		return nil
	}
	return profile
}

// jpegProfile joins the parts of the profile, which stand in their order before the picture.
func jpegProfile(content []byte) (profile []byte) {
	for rest := content[2:]; ; {
		marker, body, next, ok := nextSegment(rest)
		if !ok || marker == markerSOS || marker == markerEOI {
			return profile
		}
		if marker == markerAPP2 && bytes.HasPrefix(body, iccName) && len(body) > iccHead {
			profile = append(profile, body[iccHead:]...)
		}
		rest = next
	}
}

func pngProfile(content []byte) []byte {
	for rest := content[len(pngSignature):]; ; {
		name, data, next, ok := nextChunk(rest)
		if !ok || name == "IDAT" {
			return nil
		}
		if name == "iCCP" {
			_, packed, _ := bytes.Cut(data, []byte{0})
			return unpack(packed)
		}
		rest = next
	}
}

// unpack gives nothing of a profile that is damaged or larger than a profile is.
func unpack(packed []byte) []byte {
	if len(packed) == 0 {
		return nil
	}
	reader, err := zlib.NewReader(bytes.NewReader(packed[1:])) // The first byte names the method, of which there is one.
	if err != nil {
		return nil
	}
	profile, err := io.ReadAll(io.LimitReader(reader, maxProfile+1))
	if err != nil {
		return nil
	}
	return profile
}

func webpProfile(content []byte) []byte {
	for rest := content[riffHead:]; ; {
		name, data, next, ok := nextRIFF(rest)
		if !ok {
			return nil
		}
		if name == "ICCP" {
			return data
		}
		rest = next
	}
}

// withProfile puts a profile into a file of Go's encoders, which write none.
func withProfile(contentType string, file, profile []byte) ([]byte, error) {
	if profile == nil {
		return file, nil
	}
	if contentType == PNG {
		return pngWithProfile(file, profile)
	}
	const begin = 2
	out := append([]byte(nil), file[:begin]...)
	parts := (len(profile) + iccSegment - 1) / iccSegment
	for i := range parts {
		part := profile[i*iccSegment : min((i+1)*iccSegment, len(profile))]
		head := append(bytes.Clone(iccName), byte(i+1), byte(parts)) //nolint:gosec // At most 17 parts.
		out = appendSegment(out, markerAPP2, append(head, part...))
	}
	return append(out, file[begin:]...), nil
}

func pngWithProfile(file, profile []byte) ([]byte, error) {
	var packed bytes.Buffer
	packed.WriteString("icc\x00\x00")
	w := zlib.NewWriter(&packed)
	if _, err := w.Write(profile); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	_, _, afterHeader, _ := nextChunk(file[len(pngSignature):])
	begin := len(file) - len(afterHeader)
	out := appendChunk(append([]byte(nil), file[:begin]...), "iCCP", packed.Bytes())
	return append(out, file[begin:]...), nil
}
