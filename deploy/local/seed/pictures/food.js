"use strict";

const truffle = (x, y, r, c) => oval(x + 2, y + r * .5, r * 1.02, r * .5, { fill: "#140a06", opacity: .35 }) + oval(x, y, r, r * .86, ball(c)) +
  line(`M${x - r * .5} ${y - r * .1}q${r * .5} ${-r * .5} ${r} 0`, shade(c, .3), r * .09, { opacity: .6 });

// tray is an open box seen from above, its pieces in rows that become larger towards the viewer.
function tray(c, inner, columns, rows, piece) {
  let out = shadow(400, 486, 268, 30) + path("M218 260H582L664 470H136Z", face(c)) + path("M136 470H664L658 496Q656 500 650 500H150Q144 500 142 496Z", lin(0, 0, 0, 1, [0, shade(c, -.25)], [1, shade(c, -.5)])) +
    path("M232 272H568L640 456H160Z", lin(0, 0, 0, 1, [0, shade(inner, -.3)], [.3, inner], [1, shade(inner, .1)]));
  for (let row = 0; row < rows; row++) {
    const t = (row + .5) / rows, y = 272 + 184 * (t * .86 + t * t * .14), half = 168 + 72 * t;
    for (let i = 0; i < columns; i++) {
      out += piece(400 + ((i + .5) / columns - .5) * 2 * half, y, half / columns * .68, row, i);
    }
  }
  return out;
}

picture("dark-truffles", "blush", () => {
  const lid = group("rotate(-7 400 200)", path("M250 92H560L592 236H226Z", face("#7d5a4c")), path("M226 236H592L590 250H228Z", shade("#7d5a4c", -.45)),
    rect(352, 146, 108, 46, 2, "#efe2cf"), text(406, 174, 13, "#4b2d22", "TRUFFLES"));
  return lid + tray("#6d4b3e", "#d9c3a5", 6, 4, (x, y, r, row, i) => truffle(x, y, r, ["#3a2018", "#2c1711", "#4b2a1d"][(row + i) % 3]));
});

picture("praline-atlas", "sand", () => tray("#23394a", "#c9a86a", 6, 4, (x, y, r, row, i) => {
  const c = ["#3b2016", "#6e4127", "#d8b68a", "#4c2a1c", "#8a5433", "#efdcc0"][(i + row * 5) % 6], s = r * .92;
  const shapes = [
    () => rect(x - s, y - s * .8, 2 * s, s * 1.7, s * .25, face(c)) + line(`M${x - s * .6} ${y}l${s * 1.2} ${-s * .3}M${x - s * .6} ${y + s * .4}l${s * 1.2} ${-s * .3}`, shade(c, .4), 1.8),
    () => truffle(x, y, s, c) + oval(x, y - s * .35, s * .28, s * .18, shade(c, .5)),
    () => path(`M${x} ${y - s}L${x + s} ${y}L${x} ${y + s}L${x - s} ${y}Z`, face(c)) + path(`M${x} ${y - s}L${x + s} ${y}L${x} ${y}Z`, shade(c, .2)),
    () => oval(x, y, s, s * .85, ball(c)) + line(`M${x - s * .5} ${y + s * .2}q${s * .3} ${-s * .8} ${s * .5} ${-s * .2}t${s * .5} ${-s * .2}`, shade(c, .45), 2),
  ];
  return oval(x + 2, y + s * .6, s * 1.05, s * .4, { fill: "#140a06", opacity: .3 }) + shapes[row]();
}));

picture("sea-salt-caramels", "butter", () => {
  const c = "#b9702b";
  const piece = (x, y, turn, w = 86) => group(`translate(${x} ${y}) rotate(${turn})`,
    `<g ${blurred(5)}>${rect(-w / 2, 10, w + 8, 44, 8, { fill: "#3a1f08", opacity: .4 })}</g>`,
    path(`M${-w / 2} -14L${-w / 2 + 16} -38H${w / 2 - 8}L${w / 2} -14Z`, lin(0, 0, 1, 1, [0, shade(c, .5)], [1, shade(c, .12)])),
    rect(-w / 2, -14, w, 54, 7, face(c)), line(`M${-w / 2 + 8} -11H${w / 2 - 8}`, "#ffe3b5", 3, { opacity: .7 }),
    ...[[-20, -27], [2, -30], [16, -22], [-4, -22], [24, -30]].map(([sx, sy], i) => rect(sx, sy, 6, 5, 1, { fill: "#fffdf6", opacity: .95, transform: `rotate(${i * 23} ${sx} ${sy})` })));
  const twist = (x, y, turn) => group(`translate(${x} ${y}) rotate(${turn})`, `<g ${blurred(5)}>${oval(4, 28, 60, 12, { fill: "#3a1f08", opacity: .35 })}</g>`,
    path("M-44 0L-82 -26L-76 2L-84 28Z", lin(0, 0, 1, 0, [0, "#fff"], [1, "#d8c9ac"])), path("M44 0L82 -26L76 2L84 28Z", lin(0, 0, 1, 0, [0, "#d8c9ac"], [1, "#fff"])),
    rect(-48, -25, 96, 52, 22, face("#efe3c8")), rect(-20, -25, 40, 52, 0, soft("#2f5a66")), text(0, 6, 10, "#f2ead8", "SALT"));
  return shadow(400, 500, 240, 34) + oval(400, 486, 260, 58, lin(0, 0, 0, 1, [0, "#fdfbf6"], [1, "#d6d0c3"])) + oval(400, 479, 236, 46, lin(0, 0, 0, 1, [0, "#dcd6c9"], [1, "#f7f4ec"])) +
    piece(290, 452, -4) + piece(400, 462, 2) + piece(512, 452, 5) + piece(344, 398, 3) + piece(454, 400, -3) + piece(400, 342, 2) + twist(206, 528, -14) + twist(606, 532, 18);
});

const bag = (x, base, w, h, c, words, accent) => {
  const l = x - w / 2, r = x + w / 2, t = base - h;
  return shadow(x, base, w * .54) + path(`M${l} ${base - 6}L${l + 7} ${t + 34}L${l + 3} ${t}H${r - 3}L${r - 7} ${t + 34}L${r} ${base - 6}Q${x} ${base + 8} ${l} ${base - 6}Z`, soft(c)) +
    rect(l + 3, t - 4, w - 6, 20, 3, face(shade(c, -.18))) + line(`M${l + 22} ${t + 34}L${l + 14} ${base - 8}M${r - 22} ${t + 34}L${r - 14} ${base - 8}`, shade(c, -.25), 2, { opacity: .5 }) +
    rect(x - w * .3, base - h * .62, w * .6, h * .38, 3, face("#f3ecdf")) + rect(x - w * .3, base - h * .62, w * .6, h * .06, 2, accent) +
    text(x, base - h * .43, w * .075, "#33261c", words[0]) + text(x, base - h * .34, w * .055, "#77675a", words[1]) + oval(x, t + 30, 5, 5, { fill: "none", stroke: shade(c, -.35), "stroke-width": 2 });
};

picture("single-origin-coffee", "clay", () => {
  const bean = (x, y, a) => group(`translate(${x} ${y}) rotate(${a})`, oval(2, 5, 17, 8, { fill: "#1d0f06", opacity: .3 }), oval(0, 0, 17, 11, ball("#4a2a18")), line("M-14 0Q-4 -5 2 0T14 0", "#241106", 2.2));
  return bag(226, 466, 168, 270, "#3c4a3f", ["ETHIOPIA", "WASHED"], "#c9874b") + bag(574, 466, 168, 270, "#2f3b4d", ["SUMATRA", "DARK"], "#8c3f36") + bag(400, 492, 184, 304, "#463027", ["COLOMBIA", "MEDIUM"], "#d0a34c") +
    bean(248, 524, 20) + bean(286, 540, -30) + bean(540, 534, 40) + bean(584, 522, -10) + bean(514, 556, 5);
});

picture("tea-chest", "moss", () => {
  const colours = ["#7f8f4d", "#4c5a2e", "#a8713c", "#5b3a26", "#b8a24a", "#7c3b32", "#8c9c6a", "#3f3a26", "#c08a52", "#6b5a3a", "#93a35c", "#4d2d22"];
  let cells = "";
  colours.forEach((c, i) => {
    const row = i >> 2, t = row / 3, y = 280 + row * 52, half = 166 + row * 20, w = half / 2 - 10, x = 400 - half + (i & 3) * half / 2 + 5;
    cells += path(`M${x + 4} ${y}h${w - 8}l4 42h${-w}Z`, lin(0, 0, 0, 1, [0, shade(c, -.45)], [.4, c], [1, shade(c, .1)]));
    for (let k = 0; k < 16; k++) cells += line(`M${x + 8 + (k * 37 % (w - 18))} ${y + 8 + (k * 17 % 28)}l${5 - k % 8} ${2 + k % 3}`, shade(c, k % 2 ? .35 : -.35), 2.2, { opacity: .75 });
  });
  const wood = "#a9744a";
  return shadow(400, 496, 262, 32) + path("M222 108H578L596 262H204Z", face(wood)) + path("M238 122H562L577 250H223Z", face(shade(wood, -.14))) + text(400, 196, 26, "#e9cfae", "T E A") +
    path("M204 262H596L648 452H152Z", face(shade(wood, -.3))) + path("M214 270H586L632 444H168Z", "#3c2415") + cells + path("M152 452H648L640 498Q638 504 630 504H170Q162 504 160 498Z", face(wood)) +
    [466, 482].map((y) => line(`M160 ${y}q120 -6 240 0t236 0`, shade(wood, -.22), 1.5, { opacity: .6 })).join("") + rect(380, 458, 40, 24, 4, metal("#c9a964")) +
    group("translate(660 512)", oval(8, 16, 62, 9, { fill: "#0a0f0c", opacity: .5 }), oval(0, 0, 42, 17, metal("#c4c9cc")), oval(0, -2, 33, 11, "#6d7478"), line("M40 4L104 22", "#c4c9cc", 6));
});

picture("matcha-set", "sage", () => {
  const c = "#8b8d80";
  let whisk = "";
  for (let i = -9; i <= 9; i++) whisk += line(`M${i * 2.2} -4Q${i * 6.4} 40 ${i * 3.6} 86`, i % 2 ? "#d9b982" : "#c39d62", 3);
  return shadow(330, 488, 170) + path("M160 330C160 450 236 494 330 494S500 450 500 330Z", round(c)) + oval(330, 330, 170, 46, lin(0, 0, 0, 1, [0, shade(c, -.5)], [1, shade(c, -.1)])) + oval(330, 342, 146, 33, rad(.4, .4, .7, [0, "#b5c965"], [1, "#7f9a37"])) +
    oval(300, 338, 60, 9, { fill: "#d5e39a", opacity: .6 }) + line("M161 336A170 46 0 0 0 499 336", shade(c, .45), 4, { opacity: .8 }) + path("M190 400Q330 470 470 400Q440 452 400 474Q330 430 240 458Q206 430 190 400Z", { fill: shade(c, .25), opacity: .3 }) +
    shadow(600, 498, 46) + group("translate(600 404)", whisk, rect(-20, -74, 40, 78, 8, round("#d9b982")), line("M-20 -2H20M-20 4H20", "#3b4b30", 3)) +
    group("translate(470 534) rotate(-9)", `<g ${blurred(4)}>${rect(-120, 6, 250, 8, 4, { fill: "#1d1510", opacity: .35 })}</g>`, path("M-120 0H96Q130 -2 138 -16L142 -10Q136 10 98 9H-120Q-126 4 -120 0Z", lin(0, 0, 0, 1, [0, "#e9cfa0"], [1, "#b98f52"])));
});

function basket(c) {
  let weave = "";
  for (let row = 0; row < 6; row++) for (let i = 0; i < 14; i++) {
    const t = row / 6, half = 232 - t * 34, x = 400 - half + (i + (row % 2) * .5) * half / 7;
    if (x + half / 7 < 400 + half + 6) weave += rect(x, 352 + row * 24, half / 7 - 2, 22, 10, lin(0, 0, 0, 1, [0, shade(c, .25)], [.6, c], [1, shade(c, -.4)]));
  }
  return path("M166 346H634L602 492Q600 502 588 502H212Q200 502 198 492Z", shade(c, -.5)) + `<g ${clip(path("M166 346H634L602 492Q600 502 588 502H212Q200 502 198 492Z", "#000"))}>${weave}${rect(150, 340, 500, 170, 0, lin(0, 0, 1, 0, [0, "#1d1008", .4], [.25, "#fff", .12], [.6, "#fff", 0], [1, "#1d1008", .5]))}</g>` +
    rect(150, 332, 500, 28, 14, face(shade(c, .05))) + Array.from({ length: 24 }, (_, i) => line(`M${162 + i * 20.6} 358l10 -24`, shade(c, -.35), 2.4, { opacity: .6 })).join("");
}

const jar = (x, base, w, h, c, lid, words, label = "#f5eee0") => can(x, base - h, base, w / 2, round(c), shade(c, .2), { ry: w * .07 }) +
  line(`M${x - w * .36} ${base - h * .86}V${base - h * .1}`, "#fff", w * .05, { opacity: .5 }) +
  path(`M${x - w / 2} ${base - h * .62}q${w / 2} ${w * .1} ${w} 0v${h * .42}q${-w / 2} ${w * .1} ${-w} 0Z`, soft(label)) + text(x, base - h * .34, w * .105, "#3b2b1c", words) +
  can(x, base - h - h * .2, base - h + 2, w * .46, round(lid), shade(lid, .3), { ry: w * .07 });

const crispbread = (x, y, turn) => group(`translate(${x} ${y}) rotate(${turn})`, oval(0, 0, 82, 82, face("#c99a5b")), oval(0, 0, 82, 82, { fill: "none", stroke: "#96682f", "stroke-width": 5 }), oval(0, 0, 13, 13, "#7c5526"),
  ...Array.from({ length: 46 }, (_, i) => { const a = i * 2.4, r = 18 + i * 1.3; return oval(Math.cos(a) * r, Math.sin(a) * r, 2.6, 2, { fill: "#8a5d28", opacity: .6 }); }));

picture("breakfast-hamper", "linen", () => shadow(400, 498, 250, 30) + crispbread(268, 268, 0) + crispbread(310, 262, 12) +
  group("translate(0 -6)", bag(560, 400, 128, 234, "#4a3a30", ["COFFEE", "FOR TWO"], "#d09a4c")) + jar(400, 372, 100, 122, "#8e2436", "#e6dccb", "JAM") + jar(474, 392, 88, 108, "#c08a45", "#d8c9a8", "GRANOLA") +
  group("rotate(-14 210 330)", rect(188, 262, 74, 110, 8, face("#d8b57c")), text(225, 320, 11, "#5b4120", "OATS")) + basket("#b98a52"));

picture("nordic-hamper", "dusk", () => shadow(400, 498, 250, 30) + crispbread(288, 258, 6) + jar(420, 366, 108, 130, "#e08a1e", "#26413c", "CLOUDBERRY", "#f1e6d0") + jar(516, 384, 96, 112, "#6d3f22", "#26413c", "ALMONDS", "#f1e6d0") +
  group("rotate(8 600 340)", rect(562, 270, 78, 104, 6, face("#e9dcc4")), rect(562, 306, 78, 26, 0, "#26413c"), text(601, 323, 10, "#efe4d0", "FUDGE")) +
  line("M212 350Q226 250 200 196M216 330q-34 -20 -44 -54M222 300q26 -24 28 -60M214 268q-26 -14 -34 -44", "#5f7a55", 5) + basket("#94693d") +
  path("M330 350Q400 392 470 350L462 420Q400 446 338 420Z", face("#9c2f35")) + line("M338 370Q400 404 462 370M336 392Q400 424 464 392", "#f2e3d2", 2, { opacity: .65 }));

picture("olive-oil-trio", "sage", () => [[236, "#7d8a2e", "CRETE", 470, 1], [564, "#a59a2c", "JAÉN", 470, 1], [400, "#93951f", "PUGLIA", 496, 1.08]].map(([x, c, name, y, k]) => shadow(x, y, 60 * k) +
  bottle(x, y, { h: 320 * k, w: 104 * k, neck: 32 * k, liquid: c, tint: "#dfe6c6", level: y - 226 * k, depth: .88, cap: "#23241d", capH: 46, label: "#f4efe0", labelH: 96, words: [name, "OLIVE OIL"], accent: "#7d8a2e" })).join("") +
  group("translate(310 540)", line("M-70 10Q0 -20 80 -4", "#5b6638", 4), ...[[-40, -8, -30], [-8, -20, 20], [30, -22, -20], [58, -14, 30]].map(([x, y, a]) => group(`translate(${x} ${y}) rotate(${a})`, path("M-24 0Q0 -12 24 0Q0 12 -24 0Z", face("#7a8756")))), oval(2, 6, 15, 11, ball("#4b5424"))));

picture("honey-library", "butter", () => ["#f0b93a", "#e59a1f", "#cf7d14", "#a95a10", "#7a3a0c"].map((c, i) => {
  const x = 136 + i * 132, y = i % 2 ? 470 : 496;
  return shadow(x, y, 56) + jar(x, y, 108, 124, c, "#3a332a", `N° ${i + 1}`, "#fbf5e6");
}).join("") + group("translate(520 548) rotate(-96)", rect(-5, -150, 10, 160, 5, round("#b98a52")), ...[0, 1, 2, 3, 4].map((i) => rect(-22 + Math.abs(i - 2) * 4, 6 + i * 13, 44 - Math.abs(i - 2) * 8, 9, 4.5, round("#c99a5b")))));
