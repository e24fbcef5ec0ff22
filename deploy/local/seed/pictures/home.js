"use strict";

picture("chef-knife", "linen", () => {
  const board = "#9c6f45";
  return group("rotate(-9 400 340)", `<g ${blurred(14)}>${rect(110, 200, 600, 300, 26, { fill: "#1d1510", opacity: .4 })}</g>`, rect(96, 184, 608, 296, 26, shade(board, -.35)), rect(96, 176, 608, 296, 26, face(board)), ...Array.from({ length: 9 }, (_, i) => line(`M104 ${200 + i * 31}q160 ${i % 2 ? 12 : -10} 300 0t292 ${i % 3 * 4}`, shade(board, i % 2 ? -.16 : .14), 2, { opacity: .6 })), oval(660, 214, 15, 15, shade(board, -.5)),
    `<g ${blurred(6)}>${path("M140 350L468 300H640V350H470Q300 400 140 350Z", { fill: "#1d1008", opacity: .5 })}</g>`,
    path("M126 338Q300 270 470 276V338Q420 360 380 362Q240 366 126 338Z", lin(0, 0, 0, 1, [0, "#8d949b"], [.35, "#dfe4e8"], [.5, "#b6bdc4"], [.55, "#eef1f3"], [1, "#c3c9cf"])), ...[0, 1, 2].map((i) => line(`M${160 + i * 8} ${334 - i * 5}Q${300} ${318 - i * 16 + (i % 2) * 6} 466 ${318 - i * 13}`, "#8a929a", 1.3, { opacity: .55 })), line("M126 338Q240 366 380 362Q420 360 470 338", "#fff", 2, { opacity: .8 }),
    rect(466, 272, 24, 66, 3, metal("#b9a06a")), path("M490 276H640Q668 278 666 306Q664 334 636 334Q560 326 490 334Z", lin(0, 0, 0, 1, [0, "#6a4530"], [.3, "#4a2d1e"], [1, "#22120a"])), ...[524, 578, 630].map((x) => oval(x, 305, 6.5, 6.5, metal("#c9b98a"))));
});

picture("cast-iron-pot", "clay", () => {
  const c = "#35574a";
  return shadow(400, 492, 214, 24) + path("M176 300H130Q110 300 110 322T132 344H182ZM624 300H670Q690 300 690 322T668 344H618Z", round(shade(c, -.1))) + path("M184 268L196 462Q198 490 232 492Q400 506 568 492Q602 490 604 462L616 268Z", round(c)) + oval(400, 268, 216, 40, shade(c, -.6)) + path("M176 262C176 178 300 156 400 156S624 178 624 262Q624 276 610 280Q400 318 190 280Q176 276 176 262Z", round(c)) + line("M180 266Q400 314 620 266", shade(c, .4), 3, { opacity: .6 }) + path("M230 224Q280 184 360 180Q300 204 262 244Z", { fill: "#fff", opacity: .25 }) + can(400, 124, 150, 22, metal("#c9a75c"), shade("#c9a75c", .35), { ry: 9 }) + path("M384 148H416L428 166H372Z", metal("#a5853f"));
});

picture("moka-set", "butter", () => {
  const m = "#aeb4ba", cup = (x, y) => shadow(x, y, 52, 8) + oval(x, y - 4, 62, 13, lin(0, 0, 1, 1, [0, "#fff"], [1, "#d5d0c6"])) + line(`M${x + 36} ${y - 48}q32 4 24 22q-8 14 -30 14`, "#eceae4", 8) + path(`M${x - 40} ${y - 62}Q${x - 38} ${y - 10} ${x - 16} ${y - 8}H${x + 16}Q${x + 38} ${y - 10} ${x + 40} ${y - 62}Z`, soft("#f4f2ec")) + oval(x, y - 62, 40, 9, "#fff") + oval(x, y - 60, 34, 6.5, "#3a2013");
  return cup(560, 420) + cup(650, 446) + shadow(296, 494, 104, 16) + path("M196 350L206 486Q296 506 386 486L396 350Z", metal(m)) + line("M248 352L252 494M344 352L340 494", shade(m, -.45), 2, { opacity: .6 }) + rect(208, 326, 176, 28, 4, metal(shade(m, -.25))) + path("M216 328L188 166L176 156L200 150H388L372 328Z", metal(m)) + line("M252 326L238 154M336 326L342 154", shade(m, -.45), 2, { opacity: .6 }) + path("M184 154L212 132H366L392 152Z", metal(shade(m, .1))) + rect(276, 104, 30, 28, 6, round("#22201f")) + path("M386 166H452Q470 168 466 190L446 318Q444 330 432 328L426 324L440 200H382Z", round("#22201f")) + oval(232, 410, 10, 10, metal("#c6a15b")) + cup(476, 500) + cup(590, 518);
});

picture("stoneware-mugs", "linen", () => {
  const mug = (x, y, c, k = 1) => group(`translate(${x} ${y}) scale(${k})`, shadow(0, 0, 74, 11), line("M66 -128C128 -136 128 -34 62 -42", shade(c, -.12), 18), line("M64 -132C120 -138 120 -44 60 -50", shade(c, .16), 5), path("M-76 -160Q-82 -60 -62 -8Q0 14 62 -8Q82 -60 76 -160Z", round(c)), path("M-73 -60Q0 -40 73 -60Q72 -30 62 -8Q0 14 -62 -8Q-72 -30 -73 -60Z", { fill: round("#c9a880"), opacity: .95 }), line("M-74 -62Q-30 -44 10 -52T73 -62", shade(c, -.1), 5, { opacity: .8 }), oval(0, -160, 76, 17, shade(c, .35)), oval(0, -158, 67, 13, lin(0, 0, 0, 1, [0, shade(c, -.55)], [1, shade(c, -.1)])), ...Array.from({ length: 22 }, (_, i) => oval(-58 + (i * 41 % 116), -140 + (i * 29 % 74), 1.5, 1.5, { fill: shade(c, -.5), opacity: .5 })));
  return mug(284, 392, "#54727c", .92) + mug(486, 392, "#e9e4da", .92) + mug(210, 500, "#e9e4da", 1) + mug(440, 504, "#7d858a", 1) + "";
});

// fold is a folded cloth, its rounded edge to the viewer.
const fold = (x, y, w, h, c, pattern = "") => rect(x, y, w, h, h / 2.2, lin(0, 0, 0, 1, [0, shade(c, .22)], [.35, c], [.5, shade(c, -.16)], [.54, shade(c, .1)], [.85, shade(c, -.08)], [1, shade(c, -.4)])) + pattern + line(`M${x + h * .3} ${y + h * .52}H${x + w - 6}`, shade(c, -.45), 1.6, { opacity: .6 });

picture("wool-throw", "mist", () => {
  const c = "#b4654a", fringe = Array.from({ length: 34 }, (_, i) => line(`M${252 + i * 9} 434q${i % 3 - 1} 26 ${i % 4 - 2} 46`, shade(c, i % 2 ? .2 : -.12), 4)).join("");
  const check = Array.from({ length: 7 }, (_, i) => rect(254 + i * 46, 200, 16, 238, 0, { fill: "#f3e4d4", opacity: .28 })).join("") + Array.from({ length: 5 }, (_, i) => rect(240, 222 + i * 46, 330, 14, 0, { fill: "#5c2a1c", opacity: .3 })).join("");
  return shadow(400, 496, 240, 22) + fold(174, 430, 452, 62, c) + fold(182, 370, 436, 62, c) + fold(176, 310, 448, 62, c) + fold(186, 250, 428, 62, c) + path("M236 226Q400 176 566 226L572 436Q400 446 246 436Z", soft(c)) + `<g ${clip(path("M236 226Q400 176 566 226L572 436Q400 446 246 436Z", "#000"))}>${check}</g>` + fringe + rect(520, 400, 38, 26, 2, "#f2e9da") + text(540, 417, 9, "#5c2a1c", "GOTLAND");
});

picture("linen-sheets", "sand", () => {
  const c = "#c7cdb9";
  return shadow(400, 498, 230, 20) + fold(180, 424, 440, 72, "#f0ede4") + fold(188, 352, 424, 74, c) + fold(196, 290, 408, 64, "#f0ede4") + fold(210, 244, 380, 48, c) + rect(380, 236, 40, 260, 0, soft("#a88b64")) + rect(180, 356, 440, 18, 0, lin(0, 0, 0, 1, [0, "#b89a72"], [1, "#8f744f"])) + path("M400 364C360 320 320 330 330 352S384 372 400 364C416 372 460 374 470 352S440 320 400 364ZM394 366L362 410M406 366L440 408", { fill: "#a88b64", stroke: "#8f744f", "stroke-width": 7, "stroke-linejoin": "round" }) + group("translate(540 430)", rect(-30, -20, 64, 40, 2, "#fbf8f0"), text(2, 5, 13, "#5f6450", "LINEN"));
});

picture("bath-towels", "mist", () => {
  const rows = [["#2f4560", 430], ["#f4f2ec", 374], ["#2f4560", 318], ["#f4f2ec", 262]];
  const roll = (x, y, c) => oval(x, y, 46, 46, ball(c)) + [36, 26, 16, 7].map((r) => oval(x, y, r, r, { fill: "none", stroke: shade(c, -.25), "stroke-width": 2.4, opacity: .7 })).join("");
  return group("translate(40 0)", shadow(360, 496, 220, 20) + rows.map(([c, y]) => fold(160, y, 400, 58, c, rect(200, y + 3, 16, 52, 0, { fill: shade(c, -.18), opacity: .7 }) + rect(222, y + 3, 5, 52, 0, { fill: shade(c, -.18), opacity: .7 }))).join("") + roll(306, 218, "#f4f2ec") + roll(404, 218, "#2f4560"));
});

picture("scented-candle", "dusk", () => `<g ${blurred(50)}>${oval(400, 250, 210, 200, { fill: "#ffb560", opacity: .55 })}</g>` + shadow(400, 494, 120, 18) + path("M284 240L292 480Q400 512 508 480L516 240Z", clear("#efe6d8")) + path("M290 292L296 472Q400 502 504 472L510 292Z", { fill: round("#efe2c8"), opacity: .95 }) + oval(400, 292, 110, 20, rad(.5, .5, .6, [0, "#fff6dc"], [.5, "#f8dfa8"], [1, "#e2cda2"])) + line("M400 292V262", "#3b2b20", 4) + path("M400 172C432 216 428 262 400 266C372 262 368 216 400 172Z", rad(.5, .75, .7, [0, "#fff8dc"], [.4, "#ffd672"], [1, "#ff9a3c"])) + path("M400 222C412 240 412 258 400 262C388 258 388 240 400 222Z", { fill: "#fff", opacity: .8 }) + oval(400, 240, 116, 19, { fill: "none", stroke: "#fff", "stroke-width": 3, opacity: .6 }) + rect(326, 340, 148, 92, 3, face("#f6f1e6")) + text(400, 382, 22, "#2c3444", "BIRCH") + text(400, 406, 12, "#6b7282", "50 HOURS") + line("M312 270V460", "#fff", 6, { opacity: .4 }));

picture("glass-vase", "sage", () => {
  const stem = (d) => line(d, "#5f7a4a", 4), leaf = (x, y, a, k = 1) => group(`translate(${x} ${y}) rotate(${a}) scale(${k})`, path("M0 0Q26 -24 66 -8Q34 20 0 0Z", face("#76925c")));
  const tulip = (x, y, a, c) => group(`translate(${x} ${y}) rotate(${a})`, path("M-26 -8Q-30 -56 -14 -62Q-6 -52 0 -66Q8 -52 16 -62Q30 -54 26 -8Q0 20 -26 -8Z", face(c)), path("M-12 4Q-16 -44 0 -62Q16 -44 12 4Q0 12 -12 4Z", lin(0, 0, 1, 0, [0, shade(c, .3)], [1, shade(c, -.1)])));
  return stem("M400 470Q392 300 400 176M392 466Q352 330 306 214M408 468Q450 330 500 222") + leaf(396, 320, -140, 1.5) + leaf(424, 330, -34, 1.5) + tulip(400, 176, 0, "#e3b7a6") + tulip(304, 216, -24, "#f2ede2") + tulip(502, 224, 24, "#cc7d72") + shadow(400, 494, 104, 16) +
    path("M352 254Q372 268 366 310C360 346 290 372 290 420C290 470 340 494 400 494S510 470 510 420C510 372 440 346 434 310Q428 268 448 254Z", lin(0, 0, 1, 0, [0, "#4f8f92", .75], [.15, "#9fd0cf", .5], [.3, "#fff", .5], [.5, "#8fc3c4", .32], [.85, "#4f8f92", .45], [1, "#2f6c72", .8])) + path("M296 404Q400 384 504 404C512 460 480 490 400 490S288 460 296 404Z", { fill: "#bfe2df", opacity: .4 }) + oval(400, 254, 48, 9, { fill: "none", stroke: "#d9f0ee", "stroke-width": 4, opacity: .9 }) + line("M322 384Q304 410 314 446", "#fff", 8, { opacity: .6 }) + [[350, 440], [430, 456], [460, 424], [384, 468]].map(([x, y]) => oval(x, y, 4, 4, { fill: "#fff", opacity: .5 })).join("");
});

picture("chess-set", "moss", () => {
  let board = "";
  for (let r = 0; r < 8; r++) for (let c = 0; c < 8; c++) {
    const at = (i, j) => { const t = j / 8, y = 350 + 142 * (t * .8 + t * t * .2), half = 190 + 92 * (t * .8 + t * t * .2); return `${(400 - half + 2 * half * i / 8).toFixed(1)} ${y.toFixed(1)}`; };
    board += path(`M${at(c, r)}L${at(c + 1, r)}L${at(c + 1, r + 1)}L${at(c, r + 1)}Z`, (r + c) % 2 ? "#5a3a24" : "#dfc296");
  }
  const foot = (c) => path("M-34 0Q-34 -16 -24 -20H24Q34 -16 34 0Q0 12 -34 0Z", round(c)) + rect(-24, -30, 48, 11, 5, round(c));
  const king = (x, y, k, c) => group(`translate(${x} ${y}) scale(${k})`, shadow(0, 0, 36, 7), foot(c), path("M-22 -28Q-10 -70 -13 -124H13Q10 -70 22 -28Z", round(c)), rect(-22, -134, 44, 11, 5, round(c)), path("M-14 -134L-21 -170Q0 -182 21 -170L14 -134Z", round(c)), rect(-3.5, -202, 7, 28, 2, round(c)), rect(-11, -194, 22, 7, 2, round(c)));
  const pawn = (x, y, k, c) => group(`translate(${x} ${y}) scale(${k})`, shadow(0, 0, 34, 7), foot(c), path("M-18 -28Q-8 -54 -9 -78H9Q8 -54 18 -28Z", round(c)), rect(-17, -86, 34, 9, 4, round(c)), oval(0, -106, 21, 21, ball(c)));
  const knight = (x, y, k, c) => group(`translate(${x} ${y}) scale(${k})`, shadow(0, 0, 36, 7), foot(c), path("M-22 -28Q-20 -58 0 -76Q-16 -70 -30 -62Q-44 -60 -42 -76Q-26 -104 -14 -118L-10 -138L4 -124Q34 -112 32 -70Q30 -46 22 -28Z", face(c)), oval(-10, -108, 3.2, 3.2, "#1a100a"), line("M10 -116Q26 -96 22 -60", shade(c, -.3), 3));
  const m = "#e2c596", w = "#6b4329";
  return shadow(400, 514, 290, 22) + path("M196 338H604L706 506H94Z", "#3c2617") + path("M94 506H706V516Q706 524 698 524H102Q94 524 94 516Z", "#2a190e") + board + king(330, 414, .92, w) + pawn(470, 402, .86, w) + pawn(250, 458, 1, m) + knight(420, 470, 1.1, w) + king(560, 476, 1.16, m);
});
