// Logos and hero pictures of the demo brands, and the portrait and the signature of a sender. A logo has no background; some have a
// version for dark pages.
"use strict";

const brands = {};

function logo(slug, width, mark, words) {
  brands[`logo-${slug}`] = { width: width * 1.5, height: 90, type: "png", svg: () => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} 60">${mark}${words}</svg>` };
}
const word = (x, y, size, colour, content, family, weight = 400, spacing = .16) =>
  `<text x="${x}" y="${y}" font-size="${size}" fill="${colour}" font-family="${family}" font-weight="${weight}" letter-spacing="${size * spacing}">${content}</text>`;

const nordlys = (slug, star, spark, name, casino) => logo(slug, 268, path("M30 4Q32 26 56 30Q32 34 30 56Q28 34 4 30Q28 26 30 4Z", star) + path("M47 6Q48 13 55 14Q48 15 47 22Q46 15 39 14Q46 13 47 6Z", spark),
  word(72, 36, 28, name, "NORDLYS", "DejaVu Sans", 200, .18) + word(73, 54, 11, casino, "CASINO", "DejaVu Sans", 400, .62));
nordlys("nordlys-casino", "#1B4B8F", "#2FB5A0", "#1B4B8F", "#4a5f7d");
nordlys("nordlys-casino-dark", "#8DB9F5", "#4FDCC4", "#EAF1FB", "#A9BCD8");
logo("polar-spins", 262, oval(30, 30, 26, 26, "#0B7C88") + path("M30 30Q30 12 46 14Q40 26 30 30Q48 30 46 46Q34 40 30 30Q30 48 14 46Q20 34 30 30Q12 30 14 14Q26 20 30 30Z", "#fff"),
  word(70, 39, 27, "#0B5A63", "Polar Spins", "Liberation Sans", 700, 0));
logo("fjord-live", 216, path("M4 40L22 10L32 26L38 17L56 40Z", "#24485e") + line("M4 47Q11 42 18 47T32 47T46 47T56 46M10 54Q17 50 24 54T38 54T50 54", "#3d8aa8", 3),
  word(70, 39, 28, "#24485e", "fjord", "DejaVu Sans", 200, .06) + word(150, 39, 28, "#3d8aa8", "live", "DejaVu Sans", 400, .02));
logo("rheingold", 262, `<circle cx="30" cy="30" r="24" fill="none" stroke="#9A6F08" stroke-width="4.5"/>` + line("M13 26Q21.500 19 30 26T47 26M11 34Q20.500 27 30 34T49 34M14 42Q22 36 30 42T46 42", "#C79A2B", 3),
  word(72, 41, 31, "#5d4406", "Rheingold", "Liberation Serif", 400, .03));
const lorelei = (slug, ball, name, bingo) => logo(slug, 250, oval(30, 30, 26, 26, ball) + oval(30, 30, 17, 17, "#fff") + word(23.500, 38, 23, "#7A1F3D", "L", "Liberation Serif", 700, 0) + oval(21, 12, 6, 3, { fill: "#fff", opacity: .45, transform: "rotate(-32 21 12)" }),
  word(72, 34, 27, name, "Lorelei", "Liberation Serif", 400, .02) + word(73, 53, 12, bingo, "BINGO", "Liberation Sans", 700, .5));
lorelei("lorelei-bingo", "#7A1F3D", "#7A1F3D", "#a3576f");
lorelei("lorelei-bingo-dark", "#C4496F", "#F7E4EA", "#E59BB2");

// hero is a wide landscape: sky, ridges from far to near, and water that mirrors the sky.
function hero(slug, sky, ridges, more, water) {
  brands[`hero-${slug}`] = { width: 1600, height: 800, type: "webp", svg: () => {
    defs = [];
    const land = ridges.map(([y, rise, c, seed], n) => {
      let d = `M0 800V${y}`;
      for (let x = 0; x <= 1600; x += 80) {
        const h = Math.sin(x * .0041 + seed) * rise + Math.sin(x * .013 + seed * 2.3) * rise * .42 + Math.sin(x * .037 + seed * 5) * rise * .12;
        d += `L${x} ${(y - h).toFixed(1)}`;
      }
      return path(d + "V800Z", lin(0, 0, 0, 1, [0, shade(c, .1)], [.6, shade(c, -.1)], [1, shade(c, .12)]));
    }).join("");
    const lake = rect(0, 600, 1600, 200, 0, lin(0, 0, 0, 1, [0, shade(water, .22)], [.4, water], [1, shade(water, -.35)])) +
      Array.from({ length: 26 }, (_, i) => line(`M${(i * 331) % 1500} ${612 + (i * 7.100)}h${60 + (i * 53) % 150}`, shade(water, .5), 1.6 + i * .06, { opacity: .28 })).join("");
    const back = rect(0, 0, 1600, 800, 0, lin(0, 0, 0, 1, ...sky)), things = more();
    return `<svg xmlns="http://www.w3.org/2000/svg" width="1600" height="800" viewBox="0 0 1600 800"><defs>${defs.join("")}</defs>${back}${things}${land}${lake}</svg>`;
  } };
}
const stars = (n, y) => Array.from({ length: n }, (_, i) => oval((i * 613) % 1600, (i * 197) % y, 1 + (i % 3) * .5, 1 + (i % 3) * .5, { fill: "#fff", opacity: .35 + (i % 4) * .15 })).join("");
const veil = (d, c, o) => `<g ${blurred(34)}>${path(d, { fill: c, opacity: o })}</g>`;

hero("nordlys-casino", [[0, "#081326"], [.5, "#12335c"], [1, "#2a5f7d"]], [[470, 90, "#1c3a5c", 1.2], [540, 70, "#122a45", 3.6], [600, 36, "#0a1a2d", 5.1]],
  () => stars(120, 420) + veil("M120 460Q260 120 520 90Q760 60 900 20L980 120Q760 190 600 260Q380 350 300 470Z", "#3fe0b0", .62) + veil("M620 470Q760 250 1040 170Q1280 110 1500 40L1560 180Q1280 240 1100 320Q900 410 820 480Z", "#35c7c9", .5) + veil("M420 300Q700 120 1080 90L1160 30L1000 20Q640 70 420 300Z", "#8a6fe0", .4), "#1d4f6b");
hero("polar-spins", [[0, "#bfe3ea"], [.6, "#e9f4f2"], [1, "#fbe9dc"]], [[480, 80, "#9cc6d2", .4], [550, 60, "#d6e9ee", 2.2], [602, 30, "#f4fafb", 4.4]],
  () => oval(1130, 300, 86, 86, "#fff3dc") + [120, 170, 230, 300].map((r, i) => `<circle cx="1130" cy="300" r="${r}" fill="none" stroke="#fff" stroke-width="${5 - i}" opacity="${.5 - i * .1}"/>`).join(""), "#4fb3bf");
hero("fjord-live", [[0, "#8db4c7"], [.6, "#cfe0e2"], [1, "#f0e7d8"]], [[400, 150, "#7d9fae", 2.9], [500, 130, "#55798a", .6], [590, 60, "#2f5263", 4.1]], () => veil("M0 200H1600V260H0Z", "#fff", .5), "#3f7388");
hero("rheingold", [[0, "#3d2a1a"], [.35, "#a8682a"], [.7, "#efb54e"], [1, "#fbe3a6"]], [[500, 80, "#a8702f", 1.8], [560, 60, "#6f4520", 3.2], [606, 30, "#3d2812", .9]],
  () => `<g ${blurred(40)}>${oval(1060, 450, 240, 150, { fill: "#fff2c4", opacity: .8 })}</g>` + oval(1060, 450, 62, 62, "#fff6d8") + group("translate(330 396)", path("M0 120V30H14V14H26V30H44V-20L58 -56L72 -20V40H110V18H122V40H140V120Z", "#6a431d")), "#b9813a");
hero("lorelei-bingo", [[0, "#2c1426"], [.5, "#7a2f4d"], [.8, "#d98274"], [1, "#f6d3b3"]], [[500, 70, "#8a4a5e", 5.9], [590, 50, "#4d2338", 2.4], [606, 26, "#30142a", .2]],
  () => stars(60, 260) + path("M980 620Q1000 360 1100 320Q1160 250 1210 330Q1290 380 1320 620Z", "#4d2338") + oval(420, 250, 54, 54, "#fbe6cf"), "#8a3f5a");

const skin = "#eec3a2", hair = "#6b4426";
brands["portrait-nordlys-casino"] = { width: 400, height: 400, type: "webp", svg: () => {
  defs = [];
  const drawn = rect(0, 0, 480, 480, 0, lin(0, 0, 0, 1, [0, "#e6edef"], [1, "#b3c5ce"])) +
    path("M150 214Q138 88 240 80Q344 88 332 214Q340 300 322 338L158 338Q140 300 150 214Z", soft(shade(hair, -.15))) +
    path("M207 268V346Q240 376 273 346V268Z", shade(skin, -.14)) +
    path("M30 480Q46 376 170 346L240 420L310 346Q434 376 450 480Z", face("#24364f")) +
    path("M192 340L240 418L288 340L272 330Q240 366 208 330Z", "#f4f1ea") +
    line("M170 346L214 480M310 346L266 480", "#1a283c", 4) +
    path("M174 200Q174 128 240 128Q306 128 306 200Q306 298 240 300Q174 298 174 200Z", rad(.42, .36, .75, [0, shade(skin, .16)], [.7, skin], [1, shade(skin, -.12)])) +
    path("M166 226Q156 112 240 106Q326 112 314 226Q306 168 268 148Q224 190 166 226Z", soft(hair)) +
    oval(214, 214, 5.5, 6.5, "#35271d") + oval(268, 214, 5.5, 6.5, "#35271d") +
    line("M202 197Q213 189 226 195M256 195Q268 189 280 197", shade(hair, -.2), 4) + line("M241 220Q236 238 244 241", shade(skin, -.25), 3) +
    line("M219 262Q241 281 263 262", "#b4574f", 5) +
    oval(200, 246, 13, 8, { fill: "#e08f78", opacity: .35 }) + oval(282, 246, 13, 8, { fill: "#e08f78", opacity: .35 });
  return `<svg xmlns="http://www.w3.org/2000/svg" width="480" height="480" viewBox="0 0 480 480"><defs>${defs.join("")}</defs>${drawn}</svg>`;
} };
brands["signature-nordlys-casino"] = { width: 360, height: 112.5, type: "webp", svg: () => `<svg xmlns="http://www.w3.org/2000/svg" width="640" height="200" viewBox="0 0 640 200">` +
  line("M40 150C60 90 80 40 92 40C104 40 84 120 92 122C104 118 130 44 142 44C154 46 128 130 146 134C164 134 176 96 198 98C176 92 160 124 176 134C188 138 200 112 204 100C200 118 196 138 212 134C226 128 236 104 240 100C238 130 226 178 206 180C190 178 214 146 250 132C262 126 270 98 292 98C270 92 254 124 270 134C282 138 294 112 298 100C294 118 290 138 306 134", "#1d2a44", 5) +
  line("M402 60C384 36 344 52 356 82C366 104 408 104 400 132C392 158 348 154 340 138M402 128C416 120 424 100 432 102C440 108 428 134 438 134C450 132 456 100 466 102C474 108 464 134 474 134C486 130 500 60 510 58C514 70 496 130 506 134C520 132 530 102 540 104C546 112 536 132 548 132C566 128 580 116 600 112", "#1d2a44", 5) + `</svg>` };
