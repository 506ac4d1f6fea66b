"""What is in pictures: their parts, by the structure of SVG, whatever fonts there are."""

import re
import xml.etree.ElementTree as ElementTree

SVG = "{http://www.w3.org/2000/svg}"


class Picture:
    """An SVG file that was drawn."""

    def __init__(self, text):
        self.root = ElementTree.fromstring(text)

    def texts(self):
        """All texts, as somebody who edits them finds them."""
        return ["".join(node.itertext()).strip() for node in self.root.iter(f"{SVG}text")]

    def group(self, name):
        """The groups with an id, each with the styles of its paths."""
        return [node for node in self.root.iter(f"{SVG}g") if node.get("id") == name]

    def paths(self, name):
        """How often something is drawn in the groups with an id."""
        drawn = (f"{SVG}path", f"{SVG}use")
        # Definitions draw nothing.
        hidden = {id(path) for defs in self.root.iter(f"{SVG}defs") for path in defs.iter()}
        return [
            node
            for group in self.group(name)
            for node in group.iter()
            if node.tag in drawn and id(node) not in hidden
        ]

    def colours(self, name, what="stroke"):
        """The colours of what is drawn there."""
        styles = [node.get("style", "") for node in self.paths(name)]
        return [match[1] for style in styles if (match := re.search(rf"(?<![-\w]){what}: (#\w+)", style))]

    def size(self):
        """Width and height in points."""
        return tuple(float(self.root.get(side).removesuffix("pt")) for side in ("width", "height"))


def saved(tree, folder, **options):
    """The picture that `savefig` writes."""
    tree.savefig(folder / "tree.svg", **options)
    return Picture((folder / "tree.svg").read_text())
