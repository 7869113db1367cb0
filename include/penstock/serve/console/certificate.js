// What a number's certificate says, in words.

import { moment, number } from "./format.js";

export function lines(certificate, doc) {
  if (!certificate) return doc ? [doc] : ["No certificate."];
  const fresh = certificate.provisional_rows || 0;
  return [
    ...(doc ? [doc] : []),
    certificate.final ? "✓ Final: every fact of this range has been built and gated." : "○ Provisional: newer facts are added as they come.",
    certificate.complete_to ? `As of ${moment(certificate.as_of)}, complete to ${moment(certificate.complete_to)}.` : `As of ${moment(certificate.as_of)}; no stream says how far it is.`,
    `${number(certificate.facts, "count", true)} facts, ${number(fresh, "count", true)} of them after the cut.`,
    rejected(certificate.rejected),
    onItsWay(certificate.in_flight),
    certificate.built_at && `Built and gated ${moment(certificate.built_at)}.`,
    `Release ${certificate.release}, ${cut(certificate.cut)}.`,
  ].filter(Boolean);
}

function rejected(records) {
  if (records === null || records === undefined) return "What was rejected is not booked yet.";
  return records ? `${number(records, "count", true)} records of these hours were rejected: the Rejected page says why.` : "No record of these hours was rejected.";
}

function onItsWay(records) {
  if (records === null || records === undefined) return null;
  return records ? `${number(records, "count", true)} records, of any day, are still on their way.` : "Nothing is on its way.";
}

function cut(positions) {
  const said = Object.entries(positions || {}).map(([source, epoch]) => `${source} to epoch ${epoch}`);
  return said.length ? `cut: ${said.join(", ")}` : "no build yet";
}

export function state(certificate) {
  if (!certificate) return "";
  return certificate.final ? "final" : "provisional";
}
