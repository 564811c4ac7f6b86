/**
 * A text as a QR code: byte mode, error correction M (ISO/IEC 18004).
 *
 * Bits go into codewords, which get Reed-Solomon error correction; all are laid out in zigzag on a square,
 * with the one of eight masks that has the lowest penalty.
 */

import { s } from "./dom.js";

// For level M, by version from 1: error correction codewords in each block, and the number of blocks.
const CORRECTION = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const BLOCKS = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
const BYTE_MODE = 0b0100;
const LEVEL_M = 0b00;

const MASKS = [
  (row, column) => (row + column) % 2 === 0,
  (row) => row % 2 === 0,
  (_, column) => column % 3 === 0,
  (row, column) => (row + column) % 3 === 0,
  (row, column) => (Math.floor(row / 2) + Math.floor(column / 3)) % 2 === 0,
  (row, column) => ((row * column) % 2) + ((row * column) % 3) === 0,
  (row, column) => (((row * column) % 2) + ((row * column) % 3)) % 2 === 0,
  (row, column) => (((row + column) % 2) + ((row * column) % 3)) % 2 === 0,
];

/** The code as a drawing, black on white in every theme, with the margin that scanners need. */
export function qrImage(text, label) {
  const dark = qrCode(text);
  const size = dark.length + 8;
  const path = dark
    .flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x + 4} ${y + 4}h1v1h-1z` : "")))
    .join("");
  return s(
    "svg",
    { viewBox: `0 0 ${size} ${size}`, role: "img", "aria-label": label, "shape-rendering": "crispEdges" },
    s("rect", { width: size, height: size, fill: "#fff" }),
    s("path", { d: path, fill: "#000" }),
  );
}

/** The code as rows of dark (true) and light modules. @param {string} text @returns {boolean[][]} */
export function qrCode(text) {
  const bytes = new TextEncoder().encode(text);
  const version = fitting(bytes.length);
  const codewords = interleaved(dataCodewords(bytes, version), version);
  const codes = MASKS.map((_, mask) => drawn(codewords, version, mask));
  const penalties = codes.map(penalty);
  return codes[penalties.indexOf(Math.min(...penalties))];
}

function fitting(length) {
  for (let version = 1; version <= CORRECTION.length; version++) {
    if (4 + countBits(version) + 8 * length <= 8 * capacity(version)) return version;
  }
  throw new RangeError(`${length} bytes are too many for a code that a phone can read`);
}

const countBits = (version) => (version < 10 ? 8 : 16);

/** The number of data codewords. */
const capacity = (version) => allCodewords(version) - CORRECTION[version - 1] * BLOCKS[version - 1];

/** The number of codewords that fit: all modules, except function patterns. */
function allCodewords(version) {
  const size = 17 + 4 * version;
  const aligned = alignment(version).length;
  const alignments = aligned ? aligned * aligned - 3 : 0;
  const onTiming = aligned ? 2 * (aligned - 2) : 0; // of these, five modules are timing as well
  const functions =
    3 * 64 + 2 * (size - 16) + 31 + 25 * alignments - 5 * onTiming + (version < 7 ? 0 : 36);
  return Math.floor((size * size - functions) / 8);
}

/** The centres of the alignment patterns, in both directions. */
function alignment(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2;
  const last = 10 + 4 * version;
  const step = 2 * Math.ceil((last - 6) / (count - 1) / 2);
  return [6, ...Array.from({ length: count - 1 }, (_, at) => last - step * (count - 2 - at))];
}

function dataCodewords(bytes, version) {
  const bits = [...binary(BYTE_MODE, 4), ...binary(bytes.length, countBits(version))];
  for (const byte of bytes) bits.push(...binary(byte, 8));
  const room = 8 * capacity(version);
  bits.push(...Array(Math.min(4, room - bits.length)).fill(0));
  bits.push(...Array((8 - (bits.length % 8)) % 8).fill(0));
  const words = [];
  for (let at = 0; at < bits.length; at += 8) words.push(parseInt(bits.slice(at, at + 8).join(""), 2));
  for (let pad = 0xec; words.length < room / 8; pad ^= 0xec ^ 0x11) words.push(pad);
  return words;
}

const binary = (value, length) => Array.from({ length }, (_, at) => (value >> (length - 1 - at)) & 1);

/** Split the data into blocks, add error correction to each, and interleave them. */
function interleaved(words, version) {
  const count = BLOCKS[version - 1];
  const short = Math.floor(words.length / count);
  const longer = words.length % count; // the number of blocks at the end with one more
  const blocks = [];
  for (let at = 0, block = 0; block < count; block++) {
    const length = short + (block >= count - longer ? 1 : 0);
    blocks.push(words.slice(at, (at += length)));
  }
  const corrections = blocks.map((block) => corrected(block, CORRECTION[version - 1]));
  return [...inTurn(blocks), ...inTurn(corrections)];
}

function inTurn(blocks) {
  const longest = Math.max(...blocks.map((block) => block.length));
  return Array.from({ length: longest }, (_, at) =>
    blocks.filter((block) => at < block.length).map((block) => block[at]),
  ).flat();
}

// Arithmetic on bytes as polynomials, modulo x^8 + x^4 + x^3 + x^2 + 1.
const POWERS = [1];
while (POWERS.length < 255) POWERS.push((POWERS.at(-1) << 1) ^ (POWERS.at(-1) & 0x80 ? 0x11d : 0));
const LOGARITHMS = Object.fromEntries(POWERS.map((power, at) => [power, at]));
const times = (a, b) => (a && b ? POWERS[(LOGARITHMS[a] + LOGARITHMS[b]) % 255] : 0);

/** The remainder of the data, divided by the generator of that degree. */
function corrected(block, degree) {
  let generator = [1];
  for (let at = 0; at < degree; at++) {
    generator = [...generator, 0].map(
      (factor, place) => factor ^ (place ? times(generator[place - 1], POWERS[at]) : 0),
    );
  }
  const rest = [...block, ...Array(degree).fill(0)];
  for (let at = 0; at < block.length; at++) {
    const lead = rest[at];
    if (lead) for (const [place, factor] of generator.entries()) rest[at + place] ^= times(factor, lead);
  }
  return rest.slice(block.length);
}

function drawn(codewords, version, mask) {
  const size = 17 + 4 * version;
  const dark = Array.from({ length: size }, () => Array(size).fill(null));
  const set = (row, column, isDark) => {
    if (row >= 0 && row < size && column >= 0 && column < size) dark[row][column] = Boolean(isDark);
  };
  for (let at = 0; at < size; at++) {
    set(6, at, at % 2 === 0);
    set(at, 6, at % 2 === 0);
  }
  for (const [row, column] of [
    [3, 3],
    [3, size - 4],
    [size - 4, 3],
  ])
    square(set, row, column, 4, [2, 4]);
  const centres = alignment(version);
  const last = centres.length - 1;
  for (const [i, row] of centres.entries()) {
    for (const [j, column] of centres.entries()) {
      const isFinder = (i === 0 && (j === 0 || j === last)) || (i === last && j === 0);
      if (!isFinder) square(set, row, column, 2, [1]);
    }
  }
  setFormat(set, size, mask);
  if (version >= 7) setVersion(set, size, version);
  fill(dark, codewords, MASKS[mask]);
  return dark;
}

/** Rings around a centre: dark, except at the light distances. */
function square(set, row, column, reach, light) {
  for (let y = -reach; y <= reach; y++) {
    for (let x = -reach; x <= reach; x++) {
      set(row + y, column + x, !light.includes(Math.max(Math.abs(x), Math.abs(y))));
    }
  }
}

/** A value followed by its BCH remainder. */
function protectedBits(value, generator, degree) {
  let rest = value << degree;
  for (let bit = 31 - Math.clz32(rest); rest && bit >= degree; bit = 31 - Math.clz32(rest)) {
    rest ^= generator << (bit - degree);
  }
  return (value << degree) | rest;
}

function setFormat(set, size, mask) {
  const bits = protectedBits((LEVEL_M << 3) | mask, 0b10100110111, 10) ^ 0b101010000010010;
  const bit = (at) => (bits >> at) & 1;
  for (let at = 0; at <= 5; at++) set(at, 8, bit(at));
  set(7, 8, bit(6));
  set(8, 8, bit(7));
  set(8, 7, bit(8));
  for (let at = 9; at < 15; at++) set(8, 14 - at, bit(at));
  for (let at = 0; at < 8; at++) set(8, size - 1 - at, bit(at));
  for (let at = 8; at < 15; at++) set(size - 15 + at, 8, bit(at));
  set(size - 8, 8, true);
}

function setVersion(set, size, version) {
  const bits = protectedBits(version, 0b1111100100101, 12);
  for (let at = 0; at < 18; at++) {
    const [near, far] = [Math.floor(at / 3), size - 11 + (at % 3)];
    set(near, far, (bits >> at) & 1);
    set(far, near, (bits >> at) & 1);
  }
}

/** Place the bits in pairs of columns from the right, alternately up and down; skip column 6. */
function fill(dark, codewords, mask) {
  const size = dark.length;
  const free = dark.map((row) => row.map((module) => module === null));
  let at = 0;
  let isUp = true;
  for (let right = size - 1; right > 0; right -= right === 8 ? 3 : 2) {
    for (let step = 0; step < size; step++) {
      const row = isUp ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (!free[row][column]) continue;
        const bit = at < 8 * codewords.length && (codewords[at >> 3] >> (7 - (at & 7))) & 1;
        dark[row][column] = Boolean(bit) !== mask(row, column);
        at++;
      }
    }
    isUp = !isUp;
  }
}

/** The penalty of a code: runs, blocks, false finders, and imbalance of colours. */
function penalty(dark) {
  const size = dark.length;
  const columns = dark.map((_, at) => dark.map((row) => row[at]));
  let points = 0;
  for (const line of [...dark, ...columns]) {
    const text = line.map((module) => (module ? "1" : "0")).join("");
    for (const run of text.match(/1{5,}|0{5,}/g) ?? []) points += run.length - 2;
    for (const finder of ["10111010000", "00001011101"]) {
      for (let from = text.indexOf(finder); from >= 0; from = text.indexOf(finder, from + 1))
        points += 40;
    }
  }
  for (let row = 1; row < size; row++) {
    for (let column = 1; column < size; column++) {
      const one = dark[row][column];
      if (
        dark[row - 1][column] === one &&
        dark[row][column - 1] === one &&
        dark[row - 1][column - 1] === one
      )
        points += 3;
    }
  }
  const share = dark.flat().filter(Boolean).length / (size * size);
  return points + 10 * Math.floor(Math.abs(share - 0.5) * 20);
}
