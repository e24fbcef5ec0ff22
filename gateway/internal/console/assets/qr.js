// The QR code (ISO/IEC 18004) of a short text. It is made in the page, so that no request and no log has a claim URL.
//
// Its bytes are one block with error correction level L, as in versions 1 to 5, and have mask 0: readers accept any.

// The codewords of data and of error correction in each version.
const capacities = [[19, 7], [34, 10], [55, 15], [80, 20], [108, 26]];
const format = 0x77c4; // Level L and mask 0, with their own error correction.

// The powers of 2 in the field of 256 elements, and their logarithms.
const power = [];
const logarithm = [];
for (let i = 0, x = 1; i < 255; i++) {
  power[i] = x;
  logarithm[x] = i;
  x = x < 128 ? x << 1 : (x << 1) ^ 0x11d;
}
const product = (a, b) => (a && b ? power[(logarithm[a] + logarithm[b]) % 255] : 0);

// correction is the remainder of the data divided by the polynomial whose roots are the first powers of 2.
function correction(data, count) {
  let divisor = [1];
  for (let i = 0; i < count; i++) divisor = [...divisor, 0].map((c, j) => c ^ product(divisor[j - 1] ?? 0, power[i]));
  const rest = [...data, ...Array(count).fill(0)];
  data.forEach((_, i) => {
    const factor = rest[i];
    divisor.forEach((c, j) => (rest[i + j] ^= product(c, factor)));
  });
  return rest.slice(data.length);
}

// codewords are the mode, the length and the bytes in half bytes, then a filling.
function codewords(bytes, [size, count]) {
  const halves = [4, bytes.length >> 4, bytes.length & 15, ...bytes.flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const data = [];
  for (let i = 0; i < halves.length; i += 2) data.push((halves[i] << 4) | halves[i + 1]);
  for (let i = 0; data.length < size; i++) data.push(i % 2 ? 0x11 : 0xec);
  return [...data, ...correction(data, count)];
}

// patterns sets the modules that are not data: finders, alignment, timing and format.
function patterns(size, set) {
  const square = (x, y, radius, isLight) => {
    for (let dy = -radius; dy <= radius; dy++) {
      for (let dx = -radius; dx <= radius; dx++) set(x + dx, y + dy, !isLight(Math.max(Math.abs(dx), Math.abs(dy))));
    }
  };
  for (let i = 0; i < size; i++) [[i, 6], [6, i]].forEach(([x, y]) => set(x, y, i % 2 === 0));
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) square(x, y, 4, (ring) => ring === 2 || ring === 4);
  if (size > 21) square(size - 7, size - 7, 2, (ring) => ring === 1);
  for (let i = 0; i < 15; i++) {
    const dark = ((format >> i) & 1) === 1;
    set(8, i < 6 ? i : i < 8 ? i + 1 : size - 15 + i, dark);
    set(i < 8 ? size - 1 - i : i === 8 ? 7 : 14 - i, 8, dark);
  }
  set(8, size - 8, true);
}

// qr returns the number of modules of a side and the path of the dark ones, or null if the text is too long.
export function qr(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = capacities.findIndex(([data]) => bytes.length + 2 <= data);
  if (version < 0) return null;
  const size = 21 + 4 * version;
  const rows = Array.from({ length: size }, () => []);
  patterns(size, (x, y, dark) => { if (rows[y] && x >= 0 && x < size) rows[y][x] = dark; });
  const words = codewords(bytes, capacities[version]);
  let bit = 0;
  for (let right = size - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right = 5; // The column of the timing pattern.
    for (let i = 0; i < size; i++) {
      const y = up ? size - 1 - i : i;
      for (const x of [right, right - 1]) {
        if (rows[y][x] !== undefined) continue;
        const dark = ((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
        rows[y][x] = (dark === 1) !== ((x + y) % 2 === 0);
        bit += 1;
      }
    }
  }
  return { size, path: rows.flatMap((row, y) => row.map((dark, x) => (dark ? `M${x} ${y}h1v1h-1z` : ""))).join("") };
}
