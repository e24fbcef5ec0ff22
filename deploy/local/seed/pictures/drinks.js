"use strict";

// wine is a bottle of dark glass with a capsule.
const wine = (x, base, o) => shadow(x, base, (o.w ?? 92) * .56) + bottle(x, base, {
  h: 372, w: 92, neck: 31, neckH: 116, shoulder: 52, labelH: 108, labelAt: .4, label: "#f3ecdd", capH: 74, capW: 35, ...o,
});

picture("champagne-brut", "night", () => {
  const glass = (x, y) => shadow(x, y, 38, 7) + path(`M${x - 30} ${y - 196}C${x - 32} ${y - 110} ${x - 14} ${y - 84} ${x - 3} ${y - 78}V${y - 8}L${x - 36} ${y}H${x + 36}L${x + 3} ${y - 8}V${y - 78}C${x + 14} ${y - 84} ${x + 32} ${y - 110} ${x + 30} ${y - 196}Z`, clear("#dfe4ea")) +
    path(`M${x - 30} ${y - 168}C${x - 29} ${y - 112} ${x - 14} ${y - 90} ${x} ${y - 86}C${x + 14} ${y - 90} ${x + 29} ${y - 112} ${x + 30} ${y - 168}Z`, lin(0, 0, 1, 0, [0, "#c9973c"], [.3, "#f7dc94"], [1, "#b98427"])) +
    oval(x, y - 168, 30, 5, "#fbe8b4") + Array.from({ length: 9 }, (_, i) => oval(x + (i * 7 % 22) - 10, y - 160 + i * 7, 1.7, 1.7, { fill: "#fff", opacity: .85 })).join("");
  return wine(320, 492, { w: 112, h: 384, neck: 34, neckH: 100, shoulder: 92, fill: "#22392b", cap: "#c8a24e", capMetal: true, capH: 96, capW: 38, words: ["BRUT", "CHAMPAGNE"], accent: "#b8892f", labelAt: .37, labelH: 92 }) +
    oval(320, 240, 15, 9, "#e7cf94") + glass(472, 498) + glass(562, 480);
});

picture("barolo", "wine", () => {
  const w = "#b98e5c";
  return shadow(400, 506, 238, 26) + path("M180 214L206 172H594L620 214Z", shade(w, -.45)) + rect(180, 214, 440, 292, 4, shade(w, -.55)) +
    group("translate(400 356) rotate(90) translate(-400 -470)", bottle(400, 668, { h: 396, w: 104, neck: 32, neckH: 120, shoulder: 54, fill: "#2a1a1e", cap: "#6a1a26", capH: 80, capW: 37, label: "#f1e8d6", labelH: 120, labelAt: .42, words: ["BAROLO", "LA MORRA"], accent: "#6a1a26", ink: "#3a1a1c" })) +
    Array.from({ length: 46 }, (_, i) => line(`M${196 + i * 9} ${424 + (i * 13 % 12)}q${8 - i % 16} ${-12 - i % 9} ${18 - i * 5 % 30} ${4}`, i % 2 ? "#d9b984" : "#c39c62", 3)).join("") +
    path("M180 430H620V500Q620 506 614 506H186Q180 506 180 500Z", face(w)) + [446, 468, 488].map((y) => line(`M184 ${y}q110 ${y % 3 ? 7 : -6} 216 0t216 0`, shade(w, -.2), 1.4, { opacity: .6 })).join("") +
    text(400, 476, 22, shade(w, -.55), "BAROLO D.O.C.G.") + rect(180, 214, 12, 220, 0, face(w)) + rect(608, 214, 12, 220, 0, face(shade(w, -.2)));
});

picture("riesling-pair", "sage", () => wine(330, 476, { h: 372, w: 82, neckH: 100, shoulder: 120, fill: "#5f7f42", cap: "#e7dfcb", words: ["RIESLING", "TROCKEN"], accent: "#5f7f42" }) +
  wine(458, 496, { h: 386, w: 86, neckH: 104, shoulder: 124, fill: "#7a6a2e", cap: "#b08d3f", words: ["RIESLING", "FEINHERB"], accent: "#b08d3f" }) +
  group("translate(596 488)", `<g ${blurred(6)}>${oval(6, 18, 66, 16, { fill: "#1d1510", opacity: .35 })}</g>`, ...Array.from({ length: 17 }, (_, i) => oval(-44 + (i % 6) * 18 + (i > 5 ? 8 : 0) + (i > 11 ? 8 : 0), 4 - (i / 6 | 0) * 17, 12, 12, ball("#b9c46a"))), line("M4 -40Q8 -64 -8 -82", "#6b5a34", 5), path("M4 -60Q40 -96 66 -62Q44 -32 4 -60Z", face("#7a9150"))));

// spirit is a broad bottle with a stopper.
const spirit = (x, base, o) => shadow(x, base, (o.w ?? 150) * .54) + bottle(x, base, { h: 316, w: 150, neck: 44, neckH: 82, shoulder: 44, labelH: 120, labelAt: .5, label: "#f2e9d8", cap: "#4a2f1f", capH: 46, capW: 56, tint: "#e9e2d4", ...o });
const tumbler = (x, y, c, ice) => shadow(x, y, 56, 9) + path(`M${x - 54} ${y - 104}L${x - 47} ${y - 4}Q${x} ${y + 10} ${x + 47} ${y - 4}L${x + 54} ${y - 104}Z`, clear("#eef1f3")) +
  path(`M${x - 50} ${y - 56}L${x - 45} ${y - 14}Q${x} ${y} ${x + 45} ${y - 14}L${x + 50} ${y - 56}Z`, { fill: round(c), opacity: .9 }) + oval(x, y - 56, 50, 9, shade(c, .25)) +
  (ice ? group(`rotate(14 ${x} ${y - 60})`, rect(x - 26, y - 82, 40, 38, 6, { fill: lin(0, 0, 1, 1, [0, "#fff", .9], [1, "#fff", .25]), stroke: "#fff", "stroke-opacity": .6 })) : "") + oval(x, y - 104, 54, 10, { fill: "none", stroke: "#fff", "stroke-width": 2.5, opacity: .8 });

picture("single-malt", "dusk", () => spirit(350, 492, { liquid: "#b56a1c", level: 262, words: ["12", "HIGHLAND MALT"], accent: "#8c4a14" }) + tumbler(548, 498, "#c47a25", true));

picture("gin-botanicals", "mist", () => {
  const pots = [["#6b3f5c", "JUNIPER"], ["#d9b23c", "LEMON"], ["#7c8f4a", "CARDAMOM"], ["#a8483a", "PEPPER"], ["#c9a37a", "ANGELICA"], ["#8a6a9c", "LAVENDER"]];
  return spirit(226, 480, { h: 340, w: 132, liquid: "#cfe0e4", depth: .6, level: 262, tint: "#cfe3ea", cap: "#2f4a56", words: ["DRY GIN", "BATCH 27"], accent: "#2f6a7a", ink: "#22414c" }) +
    pots.map(([c, n], i) => { const x = 372 + (i % 3) * 124, y = i < 3 ? 404 : 500; return shadow(x, y, 48) + jar(x, y, 92, 78, c, "#d9d4c8", n.slice(0, 8), "#fbf8f0"); }).join("");
});

picture("aged-rum", "clay", () => {
  const w = "#7a4a28";
  return group("translate(560 380)", shadow(0, 114, 118, 16), path("M-104 -96Q-136 0 -104 110H104Q136 0 104 -96Z", round(w)), ...[-60, -20, 20, 60].map((x) => line(`M${x} -94Q${x * 1.28} 8 ${x} 108`, shade(w, -.4), 2, { opacity: .7 })), ...[-74, -44, 56, 88].map((y) => path(`M${-112 - 12 * (1 - Math.abs(y) / 100)} ${y}h${224 + 24 * (1 - Math.abs(y) / 100)}v13h${-224 - 24 * (1 - Math.abs(y) / 100)}Z`, metal("#5a5d60"))), oval(0, -96, 104, 19, face(shade(w, .1))), text(0, 14, 17, "#e0b684", "8 YEARS")) +
    spirit(308, 496, { w: 158, h: 324, liquid: "#7c2f10", level: 258, depth: .95, cap: "#1f1a17", words: ["RUM", "BARBADOS"], label: "#ecdcc0", accent: "#a0441c" });
});

picture("sparkling-tea", "blush", () => [[250, "#b9cbd9", "BLUE", 474], [550, "#c26b6e", "RED", 474], [400, "#a8b878", "GREEN", 498]].map(([x, c, n, y]) =>
  wine(x, y, { w: 98, h: y === 498 ? 392 : 372, neckH: 104, shoulder: 84, fill: shade(c, -.18), cap: "#d9c390", capMetal: true, capH: 84, words: [n, "SPARKLING TEA"], accent: c, labelH: 88, labelAt: .36 })).join(""));

picture("craft-lemonades", "butter", () => {
  const c = ["#c8344a", "#e8b52e", "#7b3f7d", "#e5793a", "#4e5fa8", "#b8c24a"], n = ["LINGON", "LEMON", "CURRANT", "BUCKTHORN", "BILBERRY", "GOOSEB."];
  return c.map((col, i) => { const back = i < 3, x = (back ? 252 : 196) + (i % 3) * (back ? 148 : 204), y = back ? 432 : 500; return shadow(x, y, 44) + bottle(x, y, { h: back ? 256 : 276, w: 78, neck: 27, neckH: 70, shoulder: 56, liquid: col, depth: .86, tint: shade(col, .6), level: y - (back ? 186 : 200), cap: "#d9d9d6", capMetal: true, capH: 15, capW: 33, label: "#fdf9ee", labelH: 62, labelAt: .36, words: [n[i], "LEMONADE"], accent: col }); }).join("");
});

picture("verjus-box", "linen", () => {
  const orange = (x, y, r) => `<g ${blurred(5)}>${oval(x + 6, y + r, r, r * .3, { fill: "#1d1510", opacity: .4 })}</g>` + oval(x, y, r, r, ball("#e07b22"));
  const can330 = (x, y, c, n) => shadow(x, y, 40) + can(x, y - 138, y, 39, round(c), "#d4d6d8", { ry: 8 }) + can(x, y - 148, y - 140, 34, metal("#c9ccce"), metal("#e1e3e4"), { ry: 7 }) + text(x, y - 68, 13, "#fff", n);
  return shadow(400, 500, 262, 26) + path("M160 240L196 190H604L640 240Z", "#7f8f86") + rect(160, 240, 480, 200, 0, "#5d6d64") +
    group("translate(0 0)", bottle(244, 470, { h: 330, w: 86, neck: 28, neckH: 96, shoulder: 56, fill: "#8d9a5c", cap: "#e9e2d0", label: "#f7f2e4", words: ["VERJUS", "0 % VOL"], labelH: 84, labelAt: .44 }), bottle(346, 470, { h: 300, w: 92, neck: 30, neckH: 84, shoulder: 44, liquid: "#c7521d", level: 268, tint: "#f0cbb0", cap: "#2c2620", label: "#f7f2e4", words: ["ORANGE", "BITTER"], labelH: 80, labelAt: .46 }), can330(446, 420, "#3f6f86", "TONIC"), can330(532, 420, "#3f6f86", "TONIC"), can330(598, 426, "#3f6f86", "")) +
    path("M150 372H650V494Q650 502 642 502H158Q150 502 150 494Z", face("#a9b8ac")) + text(400, 448, 24, "#2f3f36", "APERITIVO") + line("M330 464H470", "#2f3f36", 1.5) + orange(604, 516, 36) + orange(676, 528, 32);
});

picture("cocktail-kit", "night", () => {
  const m = "#b9bec4";
  return shadow(322, 492, 76) + path("M248 250L266 484Q322 500 378 484L396 250Z", metal(m)) + path("M256 150H388L396 252Q322 268 248 252Z", metal(shade(m, .06))) + path("M284 96H360L386 152Q322 164 258 152Z", metal(m)) + line("M249 252Q322 268 395 252", shade(m, -.5), 3) + oval(322, 96, 38, 7, shade(m, .4)) +
    shadow(484, 494, 40) + path("M448 356H520L494 428L524 490Q484 502 444 490L474 428Z", metal("#c6a15b")) + oval(484, 356, 36, 8, shade("#c6a15b", -.45)) +
    group("rotate(8 620 430)", `<g ${blurred(6)}>${rect(568, 330, 124, 174, 4, { fill: "#000", opacity: .4 })}</g>`, rect(562, 322, 124, 174, 4, face("#efe6d3")), rect(562, 322, 18, 174, 3, face("#7c2f33")), text(634, 378, 13, "#3a2a24", "FIVE"), text(634, 402, 13, "#3a2a24", "EVENINGS"), line("M606 420H662", "#7c2f33", 1.5), path("M616 436H652L634 458ZM634 458V474M624 474H644", { fill: "none", stroke: "#7c2f33", "stroke-width": 2.4 })) +
    line("M178 470L236 500", "#d8dbde", 5) + group("translate(196 520)", oval(0, 0, 26, 9, face("#c9d05a")), oval(0, -2, 20, 6, "#e7ecae"));
});
