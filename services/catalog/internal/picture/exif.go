package picture

import "encoding/binary"

const (
	tagOrientation = 0x0112
	typeShort      = 3
	exifHeader     = 8
	exifEntry      = 12
	upright        = 1
)

// exifOrientation reads the orientation of EXIF data, 1 to 8: which corner of the picture the first
// pixel is. Data that are none, or do not tell, count as upright.
func exifOrientation(data []byte) int {
	if len(data) < exifHeader {
		return upright
	}
	var order binary.ByteOrder = binary.BigEndian
	switch string(data[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
	default:
		return upright
	}
	at := uint64(order.Uint32(data[4:]))
	if at+2 > uint64(len(data)) {
		return upright
	}
	entries := data[at+2:]
	for range order.Uint16(data[at:]) {
		if len(entries) < exifEntry {
			return upright
		}
		if order.Uint16(entries) == tagOrientation && order.Uint16(entries[2:]) == typeShort {
			return known(int(order.Uint16(entries[8:])))
		}
		entries = entries[exifEntry:]
	}
	return upright
}

func known(orientation int) int {
	const last = 8
	if orientation < upright || orientation > last {
		return upright
	}
	return orientation
}
