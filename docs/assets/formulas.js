/* Typesets the formulas of a page, which arithmatex has wrapped as \(...\) and \[...\]. */
for (const element of document.querySelectorAll(".arithmatex")) {
  const text = element.textContent;
  katex.render(text.slice(2, -2), element, { displayMode: text.startsWith("\\["), throwOnError: false });
}
