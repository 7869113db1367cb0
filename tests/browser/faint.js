// Of each piece of text on the page, where its contrast with what lies under it is less than WCAG AA asks: 4.5, and 3 of large text.
() => {
  const parsed = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+(?:e-?\d+)?/g).map(Number);
    return text.startsWith("color(") ? [r * 255, g * 255, b * 255, a] : [r, g, b, a];
  };
  const over = (top, under) => [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => 0.2126 * linear(r / 255) + 0.7152 * linear(g / 255) + 0.0722 * linear(b / 255);
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  const opacity = (one) => (one ? Number(getComputedStyle(one).opacity) * opacity(one.parentElement) : 1);
  const ground = (box) => document.elementsFromPoint(box.left + 2, box.top + box.height / 2).reverse()
    .reduce((under, one) => over(parsed(getComputedStyle(one).backgroundColor), under), [255, 255, 255, 1]);

  const faint = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const [node, element] = [texts.currentNode, texts.currentNode.parentElement];
    const range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (!node.data.trim() || !box.width || element.closest(".unseen, .skip, noscript, option, svg")) continue;
    const { color, fontSize, fontWeight } = getComputedStyle(element);
    const [r, g, b, a] = parsed(color);
    const under = ground(box);
    const large = parseFloat(fontSize) >= 24 || (parseFloat(fontSize) >= 18.66 && Number(fontWeight) >= 700);
    const found = contrast(over([r, g, b, a * opacity(element)], under), under);
    if (found < (large ? 3 : 4.5)) faint.push(`${node.data.trim().slice(0, 40)}: ${found.toFixed(2)}`);
  }
  return faint;
}
