"use strict";

const led = (x, y, c) => `<g ${blurred(5)}>${oval(x, y, 9, 9, { fill: c, opacity: .8 })}</g>` + oval(x, y, 3.5, 3.5, shade(c, .5));

// cans are headphones: a band and two cups that face the viewer at an angle.
function cans(c, pad, more = "") {
  const cup = (x, flip) => group(`translate(${x} 368) scale(${flip} 1)`, rect(-16, -128, 13, 92, 6, metal("#aeb2b6")), path("M-10 -86C36 -92 62 -50 62 6S36 96 -10 90C-34 86 -34 -82 -10 -86Z", round(pad)), path("M-24 -82C20 -86 40 -46 40 4S20 90 -24 86C-66 80 -70 44 -70 2S-66 -78 -24 -82Z", face(c)), oval(-20, 2, 36, 60, lin(0, 0, 1, 1, [0, shade(c, .3)], [1, shade(c, -.25)])), oval(-20, 2, 29, 52, face(c)));
  return shadow(400, 484, 190, 20) + line("M236 330C214 80 586 80 564 330", shade(c, -.35), 34) + line("M234 322C214 74 586 74 566 322", lin(0, 0, 1, 0, [0, shade(c, -.1)], [.35, shade(c, .4)], [1, shade(c, -.25)]), 22) + line("M262 246C276 140 524 140 538 246", pad, 12) + cup(240, 1) + cup(560, -1) + more;
}

picture("travel-headphones", "mist", () => cans("#39404a", "#20252c"));

picture("gaming-headset", "dusk", () => cans("#23262d", "#15171c", line("M232 440C240 520 300 534 356 520", "#2b2f37", 9) + rect(344, 504, 48, 24, 12, round("#3c414b")) + line("M196 330A56 70 0 0 0 196 416M604 330A56 70 0 0 1 604 416", "#35e0c8", 4, { opacity: .9 }) + led(188, 372, "#35e0c8") + led(612, 372, "#35e0c8")));

picture("wireless-earbuds", "fog", () => {
  const bud = (x, y, turn, flip) => group(`translate(${x} ${y}) rotate(${turn}) scale(${flip} 1)`, rect(-13, 0, 26, 98, 13, soft("#f4f4f2")), oval(0, -6, 37, 34, ball("#f2f2f0")), oval(-25, -2, 17, 22, ball("#bcbdbf")), rect(-5, 30, 10, 26, 5, "#c9cacc"));
  return shadow(400, 496, 150, 22) + path("M262 300C262 224 538 224 538 300V318H262Z", face("#f3f3f1")) + path("M276 306C280 246 520 246 524 306Z", lin(0, 0, 0, 1, [0, "#8f9195"], [1, "#d3d4d6"])) + rect(256, 316, 288, 180, 64, soft("#f6f6f4")) + path("M262 330Q400 306 538 330V346Q400 366 262 346Z", lin(0, 0, 0, 1, [0, "#77797d"], [1, "#c4c5c8"])) +
    `<g ${clip(rect(260, 180, 280, 162, 0, "#000"))}>${bud(340, 286, 0, 1)}${bud(460, 286, 0, -1)}</g>` + path("M258 344Q400 366 542 344V430Q542 496 480 496H320Q258 496 258 430Z", soft("#f6f6f4")) + led(400, 410, "#5bd07a") + shadow(640, 512, 30, 6) + bud(636, 430, 14, -1);
});

picture("garden-speaker", "sage", () => {
  const c = "#5d6b47";
  let mesh = "";
  for (let y = 0; y < 15; y++) for (let x = 0; x < 24; x++) mesh += oval(224 + x * 15.4 + (y % 2) * 7.5, 278 + y * 13, 3.2, 3.2, { fill: shade(c, -.5), opacity: .6 });
  return shadow(400, 492, 220, 26) + line("M232 272C232 150 568 150 568 272", shade(c, -.45), 18) + line("M232 268C234 146 566 146 568 268", shade(c, -.1), 8) + rect(192, 258, 416, 232, 92, soft(c)) + rect(208, 272, 384, 204, 80, { fill: "none", stroke: shade(c, .28), "stroke-width": 2.5, opacity: .7 }) + `<g ${clip(rect(212, 276, 376, 196, 76, "#000"))}>${mesh}</g>` +
    rect(360, 350, 80, 46, 10, face("#d8c48e")) + text(400, 380, 16, "#3d472e", "LAKE") + [340, 380, 420, 460].map((x) => oval(x, 264, 9, 3.4, shade(c, -.4))).join("");
});

picture("record-player", "clay", () => {
  const w = "#7b4f30";
  const grooves = Array.from({ length: 13 }, (_, i) => oval(348, 336, 66 + i * 9, 30 + i * 4.3, { fill: "none", stroke: "#3a3a3e", "stroke-width": 1 })).join("");
  return shadow(400, 506, 272, 28) + path("M196 226H604L672 434H128Z", face("#4a2f1e")) + path("M204 234H596L660 426H140Z", face(w)) + path("M128 434H672V496Q672 504 664 504H136Q128 504 128 496Z", face(w)) + [456, 474, 490].map((y, i) => line(`M134 ${y}q130 ${i % 2 ? 9 : -8} 266 0t266 0`, shade(w, -.22), 1.5, { opacity: .6 })).join("") +
    oval(350, 346, 196, 92, { fill: "#1a1009", opacity: .5 }) + oval(348, 338, 192, 90, "#26262a") + oval(348, 334, 186, 86, rad(.4, .35, .8, [0, "#2e2e33"], [1, "#121214"])) + grooves + path("M348 334L240 266Q280 250 330 248ZM348 334L462 398Q430 414 380 420Z", { fill: "#fff", opacity: .12 }) + oval(348, 334, 58, 27, face("#c2543a")) + oval(348, 334, 5, 3, "#efe8dc") + text(348, 327, 9, "#f6e6d4", "SIDE A") +
    oval(586, 274, 34, 16, metal("#a7abaf")) + oval(586, 268, 22, 10, metal("#d7dadd")) + line("M586 264L560 372L486 396", "#d9dcdf", 8) + line("M586 262L560 370L486 394", "#fff", 2.5, { opacity: .7 }) + path("M466 388L494 382L504 398L474 408Z", "#2a2a2d") + oval(600, 408, 17, 8, metal("#c6a15b")) + oval(556, 412, 12, 6, metal("#c6a15b")) + oval(640, 470, 12, 12, metal("#c6a15b"));
});

picture("sunrise-lamp", "blush", () => `<g ${blurred(46)}>${oval(400, 300, 250, 230, { fill: "#ffb561", opacity: .6 })}</g>` + shadow(400, 498, 150, 18) + oval(400, 298, 166, 166, rad(.5, .66, .72, [0, "#fffbe6"], [.35, "#ffe2a0"], [.7, "#ffb768"], [1, "#f08f58"])) + oval(346, 220, 62, 40, { fill: "#fff", opacity: .28, transform: "rotate(-32 346 220)" }) +
  path("M286 430H514L536 482Q538 498 520 498H280Q262 498 264 482Z", soft("#d9b48c")) + oval(400, 430, 114, 15, shade("#d9b48c", .3)) + text(400, 476, 26, "#fff6e6", "06:30"));

picture("smart-plugs", "fog", () => {
  const plug = (x, y, k) => group(`translate(${x} ${y}) scale(${k})`, shadow(0, 96, 76, 12), rect(-78, -76, 156, 172, 46, soft("#f5f5f3")), oval(0, 4, 56, 56, lin(0, 0, 1, 1, [0, "#c9cacc"], [1, "#fff"])), oval(0, 5, 50, 50, rad(.5, .4, .7, [0, "#d5d6d8"], [1, "#eeeeec"])), oval(-19, 5, 7.5, 7.5, "#55585c"), oval(19, 5, 7.5, 7.5, "#55585c"), rect(-4, -46, 8, 12, 3, "#9a9da1"), rect(-4, 44, 8, 12, 3, "#9a9da1"), led(0, -60, "#4fcf8a"));
  return plug(288, 254, .84) + plug(500, 254, .84) + plug(264, 416, 1) + plug(500, 416, 1);
});

picture("photo-frame", "sand", () => {
  const sky = lin(0, 0, 0, 1, [0, "#f3b27a"], [.55, "#f7dcb2"], [1, "#fbeed6"]);
  return shadow(400, 494, 240, 18) + path("M566 470L640 494H560Z", "#3a2a1c") + rect(170, 130, 460, 362, 8, face("#5a4431")) + rect(186, 146, 428, 330, 3, shade("#5a4431", -.5)) + rect(192, 152, 416, 318, 2, "#f6f1e6") + rect(222, 178, 356, 266, 0, sky) +
    `<g ${clip(rect(222, 178, 356, 266, 0, "#000"))}>` + oval(470, 270, 30, 30, "#fff3d2") + path("M222 340L300 262L372 334L448 250L578 356V444H222Z", face("#8b8fa8")) + path("M222 374Q330 320 420 366T578 350V444H222Z", face("#5f7a63")) + path("M222 408Q380 372 578 404V444H222Z", face("#3c5a48")) +
    [[352, 1], [384, .9], [412, .62]].map(([x, k]) => group(`translate(${x} 408) scale(${k})`, oval(0, -52, 10, 11, "#2b2630"), path("M-13 0V-26Q-13 -40 0 -40T13 -26V0Z", "#2b2630"))).join("") + line("M364 386L376 386", "#2b2630", 6) + "</g>" + path("M192 152H400L250 470H192Z", { fill: "#fff", opacity: .14 }) + led(400, 484, "#ffd27a");
});

// pad is a game controller.
const pad = (c, grip) => path("M256 250C300 226 340 244 400 244S500 226 544 250C610 276 642 420 626 458C612 494 566 482 530 430C508 400 486 390 400 390S292 400 270 430C234 482 188 494 174 458C158 420 190 276 256 250Z", soft(c)) +
  path("M188 350C176 400 168 440 176 456C188 488 236 474 268 428C280 412 290 404 304 398C250 396 214 388 188 350ZM612 350C624 400 632 440 624 456C612 488 564 474 532 428C520 412 510 404 496 398C550 396 586 388 612 350Z", { fill: grip, opacity: .85 }) +
  rect(256, 286, 22, 64, 6, "#2b2d33") + rect(235, 307, 64, 22, 6, "#2b2d33") + [[532, 282, "#d8a52f"], [532, 346, "#4c9a6b"], [500, 314, "#4a7fb5"], [564, 314, "#c24b47"]].map(([x, y, k]) => oval(x, y, 15, 15, ball(k))).join("") +
  [[330, 366], [470, 366]].map(([x, y]) => oval(x, y + 5, 38, 34, { fill: "#000", opacity: .3 }) + oval(x, y, 35, 33, ball("#3a3d45")) + oval(x, y - 4, 22, 20, lin(0, 0, 0, 1, [0, "#23252b"], [1, "#484c55"]))).join("") + rect(372, 282, 56, 30, 12, face(shade(c, -.12))) + led(400, 336, "#6db3ff");

picture("game-controller", "mist", () => shadow(400, 486, 220, 18) + group("rotate(-5 400 360) translate(0 10)", path("M270 250Q300 214 352 236L344 256ZM530 250Q500 214 448 236L456 256Z", "#3a3d45"), pad("#eceef0", "#b9bec5")));

picture("retro-console", "butter", () => {
  const small = (x, y, turn) => group(`translate(${x} ${y}) rotate(${turn})`, `<g ${blurred(5)}>${rect(-74, -10, 156, 62, 10, { fill: "#1d1510", opacity: .35 })}</g>`, rect(-78, -34, 156, 74, 10, face("#d8d2c4")), rect(-66, -22, 132, 50, 6, "#3b3c42"), rect(-54, -3, 36, 12, 2, "#dfdacd"), rect(-42, -15, 12, 36, 2, "#dfdacd"), oval(26, 4, 10, 10, ball("#b8383a")), oval(50, 4, 10, 10, ball("#b8383a")), rect(-8, 8, 12, 5, 2, "#8b8c92"));
  return shadow(400, 408, 220, 22) + line("M300 404C280 470 250 440 250 470M500 404C520 470 560 440 560 470", "#3b3c42", 6) + crate(196, 276, 408, 128, 74, "#d8d2c4", { lid: "#e6e1d4" }) + rect(196, 346, 408, 34, 0, "#8f8c86") + path("M300 216H500L520 262H280Z", "#55565c") + path("M312 150H488V240H312Z", face("#73747c")) + rect(328, 160, 144, 60, 3, face("#e8dcc0")) + text(400, 188, 15, "#8c2f30", "40 GAMES") + line("M344 200H456", "#3a6b7d", 5) + rect(228, 300, 46, 20, 4, face("#b8383a")) + rect(284, 300, 46, 20, 4, face("#a9a59a")) + led(356, 310, "#e0473f") + rect(500, 356, 34, 14, 3, "#33343a") + rect(548, 356, 34, 14, 3, "#33343a") + small(248, 492, -6) + small(556, 494, 7);
});
