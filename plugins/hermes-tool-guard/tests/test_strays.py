"""Options that write or load something outside of the folder, also such as their judges know nothing of."""

from guard_places import judged, otherwise

ASKED = r"""
csplit -f /home/me/x a 1
csplit --prefix=/home/me/x a 1
unrar x a.rar /home/me/x/
unrar x a.rar ../
ar x --output=/home/me/x a.a
ar -x --output /home/me/x a.a
ar rc /home/me/x.a b.o
rsync -ab --backup-dir=/home/me/x a/ b/
rsync -a --write-batch=/home/me/x a/ b/
rsync -a -T /home/me/x a/ b/
zip -b/home/me/x a.zip b
zip a.zip -O/home/me/x
zstd --output-dir-flat=/home/me/x a
tar -g/home/me/x -cf a.tar b
tar --index-file=/home/me/x -tf a.tar
xz --files=names.txt
sed -i'/home/me/x/*' 's/a/b/' a
sed --in-place=/home/me/x/* s/a/b/ a
perl -i'/home/me/x/*' -pe1 a
awk -i inplace -v inplace::suffix=/home/me/x '1' a
gawk -o/home/me/x 1 a
gawk --profile=/home/me/x 1 a
gawk --dump-variables=/home/me/x 1 a
time -o/home/me/x ls
perf record -o/home/me/x ls
wget --warc-file=/home/me/x https://example.org/a
gs -sOutputFile=/home/me/x a.ps
ffmpeg -i a -f tee '[f=mp4]/home/me/x'
ffmpeg -i a -vstats_file /home/me/x b.mp4
convert a -write /home/me/x b
gcc -MF /home/me/x a.c
rustc --emit=link=/home/me/x a.rs
nasm -l/home/me/x a.asm
objcopy a /home/me/x
strip -o/home/me/x a
qpdf a.pdf /home/me/x
pdftotext a.pdf /home/me/x
optipng -out /home/me/x a.png
pandoc -o/home/me/x a.md
dot -o/home/me/x a
pytest -o log_file=/home/me/x
meson setup -Dprefix=/home/me/x build
npx rimraf /home/me/x
sh notes.sh /home/me/x
python3 scripts/generate.py --out /home/me/x
java -cp /tmp/evil Main
java @/tmp/arguments Main
gunicorn -c /tmp/evil.py app:app
gunicorn --chdir /tmp/evil app:app
uvicorn --app-dir /tmp/evil app:app
flask --app /tmp/evil.py run
fastapi dev /tmp/evil.py
composer -d /tmp/evil install
composer install --working-dir=/tmp/evil
bundle install --gemfile=/tmp/evil/Gemfile
poetry -C /tmp/evil install
pdm -p /tmp/evil run x
hatch -p /tmp/evil run x
ldd /tmp/evil
cargo -Zscript /tmp/evil.rs
make --include-dir=/tmp/evil
sphinx-build -c/tmp/evil . out
pytest -c/tmp/evil.ini
pytest --override-ini=pythonpath=/tmp/evil
jest -c/tmp/evil.js
eslint -c/tmp/evil.js .
tsc -p/tmp/evil
gradle -p/tmp/evil test
cmake -DCMAKE_PROJECT_INCLUDE=/tmp/evil .
just -f/tmp/evil
task -t/tmp/evil
nox -f/tmp/evil
alembic -c/tmp/evil.ini upgrade head
java -XX:OnError="sh x.sh" Main
java -Dcom.sun.management.jmxremote.port=9 Main
java --such-an-option Main
gunicorn --such-an-option app:app
node --inspect=0.0.0.0 x.js
poetry source add x https://evil.example
pod repo add x https://evil.example
spack repo add x
conan remote add x https://evil.example
vcpkg integrate install
rye config --set-bool x=y
bundle open rake
""".strip().split("\n")

FREE = r"""
csplit -z notes.md '/^# /' '{*}'
perl -i -pe 's/(\d+)/$1+1/e if /version/' VERSION
ruby -ne 'puts $_ if $_ =~ /x/' a.txt
bazel test //src/...
prettier --write 'src/**/*.css'
npm install ../shared
cmake -DCMAKE_PREFIX_PATH=/usr/lib/x .
gcc -I/usr/include/x -L/usr/lib -o /tmp/a a.c
make DESTDIR=/tmp/x all
pytest --junitxml=/tmp/x.xml
python3 -c 'print("/srv/x")'
sh notes.sh build
rsync -ab --backup-dir=old a/ b/
tar -g state -cf a.tar b
strip -o small a
pdftotext a.pdf a.txt
gs -o out.png a.ps
java -Xmx1g -XX:+UseZGC -Dname=x -cp build/classes Main
gunicorn -w 4 -b 127.0.0.1:8000 --check-config app:app
uvicorn app:app --reload --port 8000
node --inspect=127.0.0.1:9229 x.js
poetry source show
conan remote list
rye config
""".strip().split("\n")


def test_they_need_a_yes() -> None:
    assert [one for one in ASKED if judged(one).outcome == "allow"] == []


def test_what_stays_in_the_folder_needs_none() -> None:
    assert otherwise("allow", FREE) == {}
