function reverseWords(sentence) {
  const words = sentence.split(" ");
