// Reads lines of JSON, [type, value]: the type of a structured field (list, dictionary or item) and
// its text. Prints a line for each: the value parsed by the npm package structured-headers, or
// {"error": ...}.
// A list is [[item, parameters], ...], a dictionary {name: [item, parameters]}, an item [item,
// parameters].
import { readFileSync } from "node:fs";
import { parseDictionary, parseItem, parseList } from "structured-headers";

const bare = (value) => (typeof value === "object" ? { type: value.constructor.name } : value);
const item = ([value, parameters]) => [
  bare(value),
  Object.fromEntries([...parameters].map(([name, of]) => [name, bare(of)])),
];
const parsers = {
  list: (text) => parseList(text).map(item),
  dictionary: (text) =>
    Object.fromEntries([...parseDictionary(text)].map(([name, of]) => [name, item(of)])),
  item: (text) => item(parseItem(text)),
};

for (const line of readFileSync(0, "utf8").split("\n").filter(Boolean)) {
  const [type, text] = JSON.parse(line);
  try {
    console.log(JSON.stringify(parsers[type](text)));
  } catch (error) {
    console.log(JSON.stringify({ error: String(error) }));
  }
}
